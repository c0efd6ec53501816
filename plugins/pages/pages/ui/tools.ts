/** What pages and parts of plugins are drawn with: the same fields, buttons and forms as the built-in pages. */
import type { Content, Context, InputAttributes, PageTools, Provider, SlotPlace } from 'authkernel/kernel'
import type { PartReplacements } from '../options.ts'
import { drawAlert } from './alert.ts'
import { drawField, hiddenInputs } from './fields.ts'
import { markup } from './html.ts'
import { type Language, type TextKey, languagesOf } from './languages.ts'
import { type Sheet, createSheet } from './sheet.ts'
import { createParts } from './parts.ts'
import { resolveLink } from './parts-controls.ts'
import { formOf, leavesSite, noteNeeds } from './policy.ts'

/** The tools of a page, for a service `pages` of the host: `ctx.app.parts.pages.get(name)?.draw(ctx, pageTools(ctx, name), params)`. */
export function pageTools(ctx: Context, page: string): PageTools {
  const { config } = ctx.app
  const wanted = config.locale ? config.locale(ctx.request) : ctx.request.headers.get('accept-language')
  return toolsOf(createSheet(page, ctx, languagesOf(ctx.app)(wanted), config.theme))
}

/** The tools of one page. Created by the first part that is drawn with them: the sign-in page is prepared, and has often none. */
export function toolsOf(sheet: Sheet): PageTools {
  return (sheet.tools ??= createTools(sheet))
}

function createTools(sheet: Sheet): PageTools {
  const { ctx, language, base, site, needs } = sheet
  const tools: PageTools = {
    ...createParts(sheet),
    html: markup,
    say: (key, values) => language.say(key as TextKey, values),
    async form(action, body, values = {}) {
      if (!action.startsWith('/'))
        throw new TypeError(`A form of the page "${sheet.page}" posts to ${JSON.stringify(action)}: name a path that begins with "/".`)
      needs.form = true
      const away = await providerOf(ctx, action)
      if (away) needs.away.push(away)
      const travelling = hiddenInputs({ csrfToken: await ctx.csrfToken(), flow: await parkedFlowOf(ctx), ...values })
      const more = await drawSlots(sheet, 'form', sheet.page, action)
      return markup`<form class="stack" action="${base}${action}" method="post">${travelling}${body}${more}</form>`
    },
    field: (name, options, key = sheet.page) => drawField(name, `input-${name}-for-${key}`, translateLabels(language, options)),
    submit(label, { quiet = false, name, value = '' } = {}) {
      const id = needs.buttons === 0 ? 'submitButton' : `submitButton-${needs.buttons}`
      needs.buttons++
      const named = name !== undefined && markup` name="${name}" value="${value}"`
      return markup`<button class="button${quiet ? '' : ' primary'}" type="submit" id="${id}"${named}><span class="label">${label}</span></button>`
    },
    link(label, to) {
      return markup`<a class="button quiet" href="${resolveLink(sheet, to)}"><span class="label">${label}</span></a>`
    },
    typed: (name, action) => readTyped(sheet.refused, name, action),
    alert: (code) => code !== undefined && drawAlert(language, code),
    lang: language.lang,
    site,
    base,
    duration: (seconds) => language.duration(seconds),
    date: (moment) => language.date(moment),
  }
  const { replacements = {} } = sheet
  for (const name of Object.keys(replacements) as (keyof PartReplacements)[]) replacePart(tools, name, replacements)
  return tools
}

// Neither a secret nor a code is written back into a page.
const secretName = /pass|secret|token|code|key|otp|^pin$|^current$|^repeat$/i
const maxTyped = 20_000

function readTyped(fields: Sheet['refused'], name: string, action: string | undefined): string | undefined {
  if (!fields || secretName.test(name) || (action !== undefined && fields['action'] !== action)) return undefined
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  return typeof value === 'string' && value.length <= maxTyped ? value : undefined
}

function replacePart<K extends keyof PartReplacements>(
  tools: Pick<PageTools, K> & PageTools,
  name: K,
  replacements: PartReplacements,
): void {
  const replace = replacements[name]
  if (replace) Object.assign(tools, { [name]: replace(tools[name], tools) })
}

/** Draws the parts of a place; `form` names the form that they go into, `action` is where it posts to. What they need is noted on the sheet. */
export async function drawSlots(sheet: Sheet, place: SlotPlace, form?: string, action?: string): Promise<Content> {
  const contents: Content[] = []
  for (const slot of sheet.ctx.app.parts.slots) {
    if ((slot.page !== sheet.page && slot.page !== '*') || slot.place !== place) continue
    const view = await slot.draw(sheet.ctx, toolsOf(sheet), form, action)
    if (!view) continue
    noteNeeds(sheet.needs, view, `The slot of plugin "${slot.plugin}" on the page "${slot.page}"`)
    contents.push(view.html)
  }
  return contents
}

/** The provider that a form of a page leads to: one that posts to `/signin/<id>`. */
async function providerOf(ctx: Context, action: string): Promise<Provider | undefined> {
  const id = /^\/signin\/([^/?#]+)$/.exec(action)?.[1]
  if (id === undefined) return undefined
  const provider = await ctx.providerById(decodeURIComponent(id))
  return leavesSite(formOf(ctx, provider)) ? provider : undefined
}

/** Which of several parked logins the page is about: forms carry it on. */
async function parkedFlowOf(ctx: Context): Promise<string | undefined> {
  const flow = new URL(ctx.request.url).searchParams.get('flow') ?? (ctx.request.method === 'GET' ? undefined : (await ctx.body())['flow'])
  return typeof flow === 'string' ? flow : undefined
}

/** Labels and placeholders are keys of messages, or English texts that messages may translate (`text:Code`). */
function translateLabels(language: Language, options: InputAttributes): InputAttributes {
  const say = (text: string): string => language.find(text) ?? language.find(`text:${text}`) ?? text
  const { label, placeholder } = options
  return {
    ...options,
    ...(label !== undefined && { label: say(label) }),
    ...(placeholder !== undefined && { placeholder: say(placeholder) }),
  }
}
