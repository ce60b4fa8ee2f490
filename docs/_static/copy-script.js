// Beside the downloads of a page: a button that copies its script, the same file that the link downloads.
// It is not there without scripts, nor where pages may not read files or write to the clipboard.
const WORDS = document.documentElement.lang.startsWith("zh")
  ? { copy: "复制脚本", copied: "已复制", failed: "复制失败，请下载脚本" }
  : { copy: "copy the script", copied: "copied", failed: "not copied: download the script" };

function offerCopy(link) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy-script";
  button.textContent = WORDS.copy;
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", async () => {
    try {
      // A promise in place of the text, because Safari permits to write only at once.
      const text = fetch(link.href).then((answer) => (answer.ok ? answer.blob() : Promise.reject(answer.status)));
      const plain = text.then((blob) => new Blob([blob], { type: "text/plain" }));
      await navigator.clipboard.write([new ClipboardItem({ "text/plain": plain })]);
      button.textContent = WORDS.copied;
    } catch {
      button.textContent = WORDS.failed;
    }
    setTimeout(() => (button.textContent = WORDS.copy), 3000);
  });
  return button;
}

if (location.protocol !== "file:" && navigator.clipboard && window.ClipboardItem) {
  const script = document.querySelector(".livedoctest-downloads a[href$='.py']");
  script?.parentElement.append(" · ", offerCopy(script));
  const gallery = document.querySelector(".sphx-glr-download-python a");
  if (gallery) document.querySelector(".sphx-glr-download-link-note")?.lastElementChild.append(" · ", offerCopy(gallery));
}
