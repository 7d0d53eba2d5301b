// Two ways to use a page: with a mouse, and with a keyboard only. Both can press, fill and open a screen.
import { check } from './browser.mjs'

export const mouse = page => ({
  name: 'mouse',
  press: it => it.click(),
  fill: (it, text) => it.fill(text),
  go: name => page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click(),
})

// keyboard reaches elements without a mouse, and records in `wrong` where the focus is lost or not visible.
export function keyboard(page, wrong) {
  // step returns the position of the focus, and the key that moves it towards an element.
  const step = it => it.evaluate(e => {
    const at = document.activeElement
    const style = getComputedStyle(at)
    const shows = (s => s.outlineStyle !== 'none' && s.outlineWidth !== '0px' || s.boxShadow !== 'none')
    const around = [at, at.parentElement, at.parentElement?.parentElement].filter(Boolean)
    const after = at.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING
    const role = e.getAttribute('role')
    const [row, here] = [e, at].map(x => x.closest('tr[data-row]')) // lists have one tab stop
    return {
      there: at === e,
      lost: at === document.body,
      what: `${at.localName} ${at.getAttribute('aria-label') ?? at.innerText?.slice(0, 40) ?? ''}`,
      shows: at.id === 'content' || style.display === 'contents' || at.getAttribute('role') === 'menu' || around.some(a => shows(getComputedStyle(a))),
      key: row && here && row !== here && row.parentElement === here.parentElement ? (after ? 'ArrowDown' : 'ArrowUp') : role === 'menuitem' || role === 'option' ? 'ArrowDown' : role === 'tab' && at.getAttribute('role') === 'tab' ? (after ? 'ArrowRight' : 'ArrowLeft') : at === document.body || after ? 'Tab' : 'Shift+Tab',
    }
  })
  // showsSoon waits for a focus ring that appears with a delay, such as in the editor.
  const showsSoon = async it => {
    for (const over = Date.now() + 20_000; Date.now() < over;) {
      await page.evaluate(() => new Promise(requestAnimationFrame))
      if ((await step(it)).shows) return true
    }
    return false
  }
  const at = () => new URL(page.url()).pathname
  async function reach(it) {
    await it.waitFor()
    for (let i = 0; i < 150; i++) {
      const now = await step(it)
      if (!now.shows && !now.lost && !(await showsSoon(it))) wrong.push(`${at()}: one cannot see that the focus is on ${now.what}`)
      if (now.there) return
      await page.keyboard.press(now.key)
    }
    check(false, `${await it.innerText() || it} is reachable by keyboard on ${at()}`)
  }
  return {
    name: 'keyboard',
    async press(it) {
      await reach(it)
      await page.keyboard.press(await it.evaluate(e => /checkbox|radio/.test(e.type)) ? 'Space' : 'Enter')
    },
    async fill(it, text) {
      await reach(it)
      await page.keyboard.press('Control+a')
      await page.keyboard.type(text)
    },
    async go(name) {
      await page.keyboard.press('Control+k')
      const palette = page.getByRole('dialog', { name: 'Search or jump to' })
      await palette.waitFor()
      await page.keyboard.type(name)
      await palette.getByRole('option', { name, exact: false, selected: true }).waitFor()
      await page.keyboard.press('Enter')
      await palette.waitFor({ state: 'detached' })
    },
  }
}
