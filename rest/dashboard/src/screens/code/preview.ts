// previewOf is html for a frame with sandbox="": scripts cannot run there, and the page's policy lets
// nothing be loaded. Style elements get the nonce without which the policy would refuse them too.
export function previewOf(html: string): string {
  const doc = new DOMParser().parseFromString(html, 'text/html')
  const nonce = document.querySelector<HTMLMetaElement>('meta[name=style-nonce]')?.content
  if (nonce) doc.querySelectorAll('style').forEach((s) => s.setAttribute('nonce', nonce))
  doc.querySelectorAll('script, base, meta[http-equiv]').forEach((e) => e.remove())
  return `<!doctype html>${doc.documentElement.outerHTML}`
}
