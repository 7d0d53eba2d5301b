'use strict';
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // The language of every sample is chosen once.
  const choose = (lang) => {
    document.body.dataset.lang = lang;
    for (const button of all('.langs button')) button.setAttribute('aria-pressed', String(button.dataset.lang === lang));
  };

  // Without a secure context there is no clipboard: the text is selected instead.
  const copy = async (button) => {
    const code = button.parentElement.querySelector('code');
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = 'Selected';
    }
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  };

  // enable shows the buttons of a part of the page.
  const enable = (root) => {
    for (const button of all('.langs button', root)) {
      button.hidden = false;
      button.addEventListener('click', () => {
        const before = button.getBoundingClientRect().top;
        choose(button.dataset.lang);
        scrollBy(0, button.getBoundingClientRect().top - before);
      });
    }
    for (const button of all('.copy', root)) {
      button.hidden = false;
      button.addEventListener('click', () => copy(button));
    }
    choose(document.body.dataset.lang);
  };
  enable(document);

  const field = document.getElementById('search');
  if (!field) return; // the page shows a single part

  // Without the script, the links lead to the pages of the parts. With it, they lead to this page, which loads a part
  // when it shows it.
  const partOf = new Map(); // by the id of a section
  const localize = (root) => {
    for (const link of all('a[href*="#"]', root)) {
      const [path, id] = link.getAttribute('href').split('#');
      if (path) partOf.set(id, path.slice(path.lastIndexOf('/') + 1));
      link.setAttribute('href', `#${id}`);
    }
  };
  localize(document.querySelector('nav'));

  const places = new Map(all('.part').map((place) => [place.dataset.part, place]));
  const loads = new Map(); // of parts, while and after they are loaded
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) void load(entry.target.dataset.part);
  }, { rootMargin: '50% 0px' });
  const fill = async (part) => {
    const place = places.get(part);
    const answer = await fetch(`docs/${part}`);
    if (!answer.ok) throw new Error(answer.statusText);
    const article = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('article');
    localize(article);
    place.replaceChildren(...article.childNodes);
    place.classList.add('loaded');
    enable(place);
    seen.unobserve(place);
  };
  // load loads a part once. After a failure, the link to the page of the part remains, and the next call tries again.
  const load = (part) => {
    if (!places.has(part)) return Promise.resolve();
    if (!loads.has(part)) loads.set(part, fill(part).catch(() => { loads.delete(part); }));
    return loads.get(part);
  };
  for (const place of places.values()) seen.observe(place);

  // The search hides the links and sections that do not have every word. It loads all parts first.
  const found = document.getElementById('found');
  field.parentElement.hidden = false;
  const search = async () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length > 0 && loads.size < places.size) {
      found.textContent = 'Loading…';
      await Promise.all([...places.keys()].map(load));
      if (document.activeElement === field) return search();
    }
    let count = 0;
    for (const section of all('main section:not([data-skip])')) {
      const hit = words.every((word) => section.textContent.toLowerCase().includes(word));
      const link = document.querySelector(`nav a[href="#${CSS.escape(section.id)}"]`)?.parentElement;
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
      void search();
    }
  });

  // On a phone the contents are folded.
  const contents = document.querySelector('nav details');
  const narrow = matchMedia('(max-width: 50rem)');
  const fold = () => { contents.open = !narrow.matches; };
  narrow.addEventListener('change', fold);
  fold();

  // A link to a section loads its part, and shows the section if the search has hidden it.
  const show = async () => {
    const id = decodeURIComponent(location.hash.slice(1));
    if (!partOf.has(id)) return;
    await load(partOf.get(id));
    const target = document.getElementById(id);
    if (target?.hidden) {
      field.value = '';
      await search();
    }
    target?.scrollIntoView();
  };
  addEventListener('hashchange', show);
  void show();
})();
