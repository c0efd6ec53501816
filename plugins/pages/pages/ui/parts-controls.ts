/** What is pressed on a page: buttons, links, dialogs, lists to choose from, and texts to copy. */
import type { ButtonOptions, Context, DialogOptions, NavigationItem, Tone, UIParts } from 'authkernel/kernel'
import { type Content, type Html, markup } from './html.ts'
import type { Sheet } from './sheet.ts'
import { partsScript } from './script.ts'

/** Controls of one page, and the link of a navigation, which the frame draws too. */
export type Controls = Pick<UIParts, 'button' | 'buttonLink' | 'copyable' | 'dialog' | 'select'> & {
  navigationLink(item: NavigationItem): Html
}

/** The controls of one page. Those that need a script note it. */
export function createControls(sheet: Sheet): Controls {
  const { language, needs } = sheet
  const href = (to: string): string => resolveLink(sheet, to)
  return {
    button: (label, { tone, name, value = '', describedBy }: ButtonOptions = {}) =>
      markup`<button class="button small${toneClass(tone)}" type="submit"${name !== undefined && markup` name="${name}" value="${value}"`}${describe(
        describedBy,
      )}><span class="label">${label}</span></button>`,
    buttonLink: (label, to, { tone, describedBy } = {}) =>
      markup`<a class="button small${toneClass(tone)}" href="${href(to)}"${describe(describedBy)}><span class="label">${label}</span></a>`,
    select: (name, { label, options, value }, key = sheet.page) => {
      const id = `input-${name}-for-${key}`
      const text = language.find(label) ?? language.find(`text:${label}`) ?? label
      return markup`<div class="field"><label class="section-header" for="${id}">${text}</label><select name="${name}" id="${id}">${drawOptions(
        options,
        value,
      )}</select></div>`
    },
    copyable(text, { label, download, print = false, shown } = {}) {
      needs.scripts.push(partsScript)
      const press = (attribute: Html, word: Content): Html =>
        markup`<button class="button small needs-script" type="button"${attribute}><span class="label">${word}</span></button>`
      return markup`<div class="ui-copy">${label && markup`<span class="section-header">${label}</span>`}${shown ?? markup`<code class="key" tabindex="0">${text}</code>`}<div class="ui-end">
${press(markup` data-ui-copy="${text}" data-done="${language.say('ui.copied')}"`, language.say('ui.copy'))}
${download !== undefined && press(markup` data-ui-save="${download}"`, language.say('ui.download'))}
${print && press(markup` data-ui-print=""`, language.say('ui.print'))}
</div></div>`
    },
    dialog({ id, label, title, text, body, path, tone, describedBy }: DialogOptions) {
      needs.scripts.push(partsScript)
      return markup`<a class="button small${toneClass(tone)}" href="${href(path)}" data-ui-open="${id}" aria-haspopup="dialog"${describe(
        describedBy,
      )}><span class="label">${label}</span></a><dialog class="ui-dialog ui-flush" id="${id}" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>${
        text && markup`<p>${text}</p>`
      }${body}<button class="button small ui-cancel" type="button" data-ui-close="${id}"><span class="label">${language.say(
        'ui.cancel',
      )}</span></button></dialog>`
    },
    navigationLink: ({ label, to, current }) =>
      markup`<a href="${href(to)}"${current === true && markup` aria-current="page"`}>${label}</a>`,
  }
}

/** Options of a `<select>`, the chosen one marked. */
export function drawOptions(options: readonly (readonly [value: string, text: Content])[], chosen: string | undefined): Content {
  return options.map(([value, text]) => markup`<option value="${value}"${value === (chosen ?? '') && markup` selected`}>${text}</option>`)
}

/** A path below the base path, a fragment, or a URL of http. Throws TypeError for anything else, such as `javascript:`. */
export function resolveLink({ page, base }: { page: string; base: string; ctx: Context }, to: string): string {
  if (!/^(?:[/#]|https?:\/\/)/.test(to))
    throw new TypeError(`A link of the page "${page}" leads to ${JSON.stringify(to)}: name a path, a fragment or a URL.`)
  return to.startsWith('/') ? base + to : to
}

export function toneClass(tone: Tone | undefined): string {
  return tone === undefined || tone === 'plain' ? '' : ` ${tone}`
}

function describe(id: string | undefined): Content {
  return id !== undefined && markup` aria-describedby="${id}"`
}
