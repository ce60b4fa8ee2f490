// Sphinx makes the plural rule of a language from a string, which the content security policy forbids.
// Chinese, the only language of the guide with translations, has one form.
Documentation.addTranslations = ({ messages, locale }) => {
  Object.assign(Documentation.TRANSLATIONS, messages);
  Documentation.PLURAL_EXPR = () => 0;
  Documentation.LOCALE = locale;
};
