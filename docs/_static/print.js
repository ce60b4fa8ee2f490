// Paper is white: a page in dark mode prints in the colours of the light one.
addEventListener("beforeprint", () => {
  const page = document.documentElement.dataset;
  const { theme } = page;
  page.theme = "light";
  addEventListener("afterprint", () => (page.theme = theme), { once: true });
});
