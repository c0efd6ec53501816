/** What pages and parts of plugins are drawn with: the same fields, buttons and forms as the built-in pages. */
import type { Context, InputAttributes, PageTools, Provider } from 'authkernel/kernel'
import { alert } from './alert.ts'
import { field } from './fields.ts'
import { markup } from './html.ts'
import { hidden, type Sheet } from './layout.ts'
import type { Speaker, TextKey } from './locale.ts'
import { formOf, leaves } from './policy.ts'
import { drawSlots } from './slots.ts'

/** The tools of one page. */
export function createTools(sheet: Sheet): PageTools {
  const { ctx, speaker, base, site, needs } = sheet
  const tools: PageTools = {
    html: markup,
    say: (key, values) => speaker.say(key as TextKey, values),
    async form(action, body, values = {}) {
      if (!action.startsWith('/'))
        throw new TypeError(`A form of the page "${sheet.page}" posts to ${JSON.stringify(action)}: name a path that begins with "/".`)
      needs.form = true
      const away = await providerOf(ctx, action)
      if (away) needs.away.push(away)
      const travelling = hidden({ csrfToken: await ctx.csrfToken(), flow: await flowOf(ctx), ...values })
      const more = await drawSlots(sheet, tools, 'form', sheet.page, action)
      return markup`<form class="stack" action="${base}${action}" method="post">${travelling}${body}${more}</form>`
    },
    field: (name, options, key = sheet.page) => field(name, `input-${name}-for-${key}`, worded(speaker, options)),
    submit(label, { quiet = false, name, value = '' } = {}) {
      const id = needs.buttons === 0 ? 'submitButton' : `submitButton-${needs.buttons}`
      needs.buttons++
      const named = name !== undefined && markup` name="${name}" value="${value}"`
      return markup`<button class="button${quiet ? '' : ' primary'}" type="submit" id="${id}"${named}><span class="label">${label}</span></button>`
    },
    link(label, to) {
      if (!/^(?:\/|https?:\/\/)/.test(to))
        throw new TypeError(`A link of the page "${sheet.page}" leads to ${JSON.stringify(to)}: name a path or a URL.`)
      return markup`<a class="button quiet" href="${to.startsWith('/') ? base + to : to}"><span class="label">${label}</span></a>`
    },
    alert: (code) => code !== undefined && alert(speaker, code),
    lang: speaker.lang,
    site,
    base,
    duration: (seconds) => speaker.duration(seconds),
    date: (moment) => speaker.date(moment),
  }
  return tools
}

/** The provider that a form of a page leads to: one that posts to `/signin/<id>`. */
async function providerOf(ctx: Context, action: string): Promise<Provider | undefined> {
  const id = /^\/signin\/([^/?#]+)$/.exec(action)?.[1]
  if (id === undefined) return undefined
  const provider = await ctx.providerById(decodeURIComponent(id))
  return leaves(formOf(ctx, provider)) ? provider : undefined
}

/** Which of several parked logins the page is about: forms carry it on. */
async function flowOf(ctx: Context): Promise<string | undefined> {
  const flow = new URL(ctx.request.url).searchParams.get('flow') ?? (ctx.request.method === 'GET' ? undefined : (await ctx.body())['flow'])
  return typeof flow === 'string' ? flow : undefined
}

/** Labels and placeholders are keys of messages, or English texts that messages may translate (`text:Code`). */
function worded(speaker: Speaker, options: InputAttributes): InputAttributes {
  const say = (text: string): string => speaker.find(text) ?? speaker.find(`text:${text}`) ?? text
  const { label, placeholder } = options
  return {
    ...options,
    ...(label !== undefined && { label: say(label) }),
    ...(placeholder !== undefined && { placeholder: say(placeholder) }),
  }
}
