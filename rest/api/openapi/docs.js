'use strict';
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // The language of every sample is chosen once.
  const choose = (lang) => {
    document.body.dataset.lang = lang;
    for (const button of all('.langs button')) button.setAttribute('aria-pressed', String(button.dataset.lang === lang));
  };
  for (const button of all('.langs button')) {
    button.hidden = false;
    button.addEventListener('click', () => {
      const before = button.getBoundingClientRect().top;
      choose(button.dataset.lang);
      scrollBy(0, button.getBoundingClientRect().top - before);
    });
  }
  choose('curl');

  // Without a secure context there is no clipboard: the text is selected instead.
  for (const button of all('.copy')) {
    button.hidden = false;
    button.addEventListener('click', async () => {
      const code = button.parentElement.querySelector('code');
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = 'Copied';
      } catch {
        getSelection().selectAllChildren(code);
        button.textContent = 'Selected';
      }
      setTimeout(() => { button.textContent = 'Copy'; }, 1500);
    });
  }

  // The search hides the links and sections that do not have every word.
  const field = document.getElementById('search');
  const found = document.getElementById('found');
  field.parentElement.hidden = false;
  const sections = all('main section:not([data-skip])').map((section) => ({
    section,
    link: document.querySelector(`nav a[href="#${section.id}"]`)?.parentElement,
    text: section.textContent.toLowerCase(),
  }));
  const search = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const { section, link, text } of sections) {
      const hit = words.every((word) => text.includes(word));
      section.hidden = !hit;
      if (link) link.hidden = !hit;
      if (hit) count++;
    }
    found.textContent = words.length === 0 ? '' : `${count} found`;
  };
  field.addEventListener('input', search);
  document.addEventListener('keydown', (event) => {
    if (event.key === '/' && !['INPUT', 'TEXTAREA'].includes(event.target.tagName)) {
      event.preventDefault();
      field.focus();
    }
    if (event.key === 'Escape' && event.target === field) {
      field.value = '';
      search();
    }
  });

  // On a phone the contents are folded. A link to what the search has hidden shows it.
  const contents = document.querySelector('nav details');
  const narrow = matchMedia('(max-width: 50rem)');
  const fold = () => { contents.open = !narrow.matches; };
  narrow.addEventListener('change', fold);
  fold();
  addEventListener('hashchange', () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target?.hidden) {
      field.value = '';
      search();
      target.scrollIntoView();
    }
  });
})();
