/** The script of the parts: copying, dialogs, filters and the menu of a phone. Pages work without it. It is put in once, with the nonce. */

/** Listens on the document, so that it serves every part of the page. Texts are in attributes of the parts. */
export const partsScript: string = `(() => {
  const on = (selector, type, listen) => document.addEventListener(type, (event) => {
    const found = event.target instanceof Element && event.target.closest(selector);
    if (found) listen(found, event);
  });
  const boxOf = (button) => button.closest('.ui-copy');
  on('[data-ui-copy]', 'click', async (button) => {
    const label = button.querySelector('.label');
    const word = label.textContent;
    try {
      await navigator.clipboard.writeText(button.dataset.uiCopy);
    } catch {
      // Without a secure context, or refused: select it, and use the older command.
      getSelection().selectAllChildren(boxOf(button).querySelector('code,ol,ul') || boxOf(button));
      if (!document.execCommand('copy')) return;
    }
    if (button.hasAttribute('aria-live')) return;
    button.setAttribute('aria-live', 'polite');
    label.textContent = button.dataset.done;
    setTimeout(() => { label.textContent = word; button.removeAttribute('aria-live'); }, 2500);
  });
  on('[data-ui-save]', 'click', (button) => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([boxOf(button).querySelector('[data-ui-copy]').dataset.uiCopy + '\\n'], { type: 'text/plain' }));
    link.download = button.dataset.uiSave;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  on('[data-ui-print]', 'click', () => print());
  on('[data-ui-open]', 'click', (link, event) => {
    const dialog = document.getElementById(link.dataset.uiOpen);
    if (!dialog || !dialog.showModal || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    dialog.showModal();
  });
  on('[data-ui-close]', 'click', (button) => button.closest('dialog').close());
  on('[data-ui-submit]', 'change', (field) => field.form.requestSubmit());
  on('[popover] a', 'click', (link) => link.closest('[popover]').hidePopover?.());
  // A menu of sections marks the one that is read.
  const links = [...document.querySelectorAll('.ui-nav a[href^="#"]')];
  const sections = links.map((link) => document.getElementById(link.hash.slice(1)));
  if (links.length === 0) return;
  const mark = () => {
    const atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    const read = sections.filter((section) => section && section.getBoundingClientRect().top < innerHeight / 3);
    const chosen = atEnd && scrollY > 0 ? sections.at(-1) : read.at(-1) || sections[0];
    links.forEach((link, at) => sections[at] === chosen ? link.setAttribute('aria-current', 'true') : link.removeAttribute('aria-current'));
  };
  addEventListener('scroll', mark, { passive: true });
  addEventListener('resize', mark, { passive: true });
  mark();
})()`
