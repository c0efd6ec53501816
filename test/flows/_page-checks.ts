/** What each page is checked for: reflow, axe-core, headings, empty texts, the keyboard, and what is there without JavaScript. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { run } from 'axe-core'
import type { Page } from 'playwright-core'

type Axe = { run: typeof run }
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Elements that a key reaches. */
const reachable =
  'a[href], button:not([disabled]), input:not([type=hidden]):not([disabled]), select, textarea, summary, [tabindex="0"], dialog button'

/** Pixels by which a page is wider than its window, left to right and mirrored. */
export async function findOverflow(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const root = document.documentElement
    const found: string[] = []
    const before = root.dir
    for (const dir of ['ltr', 'rtl']) {
      root.dir = dir
      if (root.scrollWidth > root.clientWidth) found.push(`${root.scrollWidth - root.clientWidth} px too wide, ${dir}`)
    }
    root.dir = before
    return found
  })
}

/** One `h1` with a text, and nothing that is read out and says nothing. */
export async function findEmptyTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = []
    const headings = document.querySelectorAll('h1')
    if (headings.length !== 1) found.push(`${headings.length} h1`)
    // The first option of a list may say nothing: what is chosen before a choice.
    for (const each of document.querySelectorAll('li, option, button, h1, h2, h3, label, th, td, dt, dd, legend, summary, title')) {
      const says = `${each.textContent}${each.getAttribute('aria-label') ?? ''}`.trim()
      const holds = each.querySelector('img, svg, input, form, .ui-avatar') !== null
      const isCell = each.tagName === 'TD'
      if (says === '' && !holds && !isCell) found.push(`empty: ${each.outerHTML.slice(0, 120)}`)
      // A key that leaked, or a value that was not filled in.
      if (/\{\w+\}|\bundefined\b|\[object |\bNaN\b/.test(says)) found.push(`raw: ${says.slice(0, 120)}`)
    }
    return found
  })
}

/** What axe-core finds. */
export async function findViolations(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: Axe }).axe.run({ resultTypes: ['violations'] }))
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target, html }) => `${id}: ${target.join(' ')} ${html.slice(0, 160)}`))
}

/** Presses Tab through the page: every control is reached, and each shows that it has the focus. */
export async function findKeyboardFaults(page: Page): Promise<string[]> {
  const count = await page.evaluate((selector) => {
    const seen = [...document.querySelectorAll<HTMLElement>(selector)].filter((each) => each.checkVisibility() && each.tabIndex >= 0)
    // Of radio buttons of one name the keyboard reaches one.
    const groups = new Set<string>()
    const wanted = seen.filter((each) => {
      const { type, name } = each as HTMLInputElement
      if (type !== 'radio') return true
      return !groups.has(name) && groups.add(name)
    })
    wanted.forEach((each, at) => each.setAttribute('data-test-stop', String(at)))
    const style = (each: Element): string => {
      const { outlineStyle, outlineWidth, boxShadow, borderColor, textDecorationLine, backgroundColor } = getComputedStyle(each)
      return [
        outlineStyle === 'none' ? '' : outlineStyle + outlineWidth,
        boxShadow,
        borderColor,
        textDecorationLine,
        backgroundColor,
      ].join()
    }
    ;(document.activeElement as HTMLElement | null)?.blur()
    Object.assign(globalThis, { plainStyles: wanted.map(style), styleOf: style })
    scrollTo(0, 0)
    return wanted.length
  }, reachable)
  // From the start of the document, wherever the focus was.
  await page.evaluate(() => {
    document.body.tabIndex = -1
    document.body.focus()
    document.body.removeAttribute('tabindex')
  })
  const reached = new Set<number>()
  const shown = new Set<number>()
  const hidden = new Map<number, string>()
  for (let presses = 0; presses < count + 5 && reached.size < count; presses++) {
    await page.keyboard.press('Tab')
    const [at, isVisible, html] = await page.evaluate(() => {
      const { plainStyles, styleOf } = globalThis as unknown as { plainStyles: string[]; styleOf(each: Element): string }
      const each = document.activeElement
      const stop = each?.getAttribute('data-test-stop')
      if (!each || stop === null || stop === undefined) return [-1, true, ''] as const
      const isShown = styleOf(each) !== plainStyles[Number(stop)]
      return [Number(stop), isShown, each.outerHTML.slice(0, 120)] as const
    })
    if (at < 0) continue
    reached.add(at)
    // Some controls stop more than once: the parts of a date.
    if (isVisible) shown.add(at)
    else hidden.set(at, html)
  }
  const faults = [...hidden].filter(([at]) => !shown.has(at)).map(([, html]) => `no visible focus: ${html}`)
  if (reached.size < count) {
    const left = await page.evaluate(
      (done) =>
        [...document.querySelectorAll('[data-test-stop]')]
          .filter((each) => !done.includes(Number(each.getAttribute('data-test-stop'))))
          .map((each) => each.outerHTML.slice(0, 120)),
      [...reached],
    )
    faults.push(...left.map((html) => `not reached by Tab: ${html}`))
  }
  return faults
}

/** Without JavaScript: no control that does nothing, and no dialog without a page of the same question. */
export async function findScriptOnly(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = []
    for (const each of document.querySelectorAll<HTMLElement>('button, a, [data-ui-open]')) {
      if (!each.checkVisibility()) continue
      const isForm = each.tagName === 'BUTTON' && (each as HTMLButtonElement).type === 'submit' && (each as HTMLButtonElement).form !== null
      const isLink = each.tagName === 'A' && each.hasAttribute('href') && each.getAttribute('href') !== '#'
      // A popover of HTML opens without a script.
      const opens = each.hasAttribute('popovertarget')
      if (!isForm && !isLink && !opens) found.push(`does nothing without JavaScript: ${each.outerHTML.slice(0, 120)}`)
    }
    for (const form of document.querySelectorAll<HTMLFormElement>('form')) {
      if (!form.checkVisibility()) continue
      const button = form.querySelector<HTMLElement>('button[type=submit], button:not([type]), input[type=submit]')
      if (!button?.checkVisibility()) found.push(`a form without a button: ${form.outerHTML.slice(0, 120)}`)
    }
    return found
  })
}
