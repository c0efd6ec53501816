/** The sign-in page: one block per provider, drawn from what its type's `form()` says, in the order of the configuration. */
import type { PageTools, Provider, ProviderForm } from 'authkernel/kernel'
import { alert } from './alert.ts'
import { field, hasInputs } from './fields.ts'
import { type Content, type Html, markup } from './html.ts'
import { answer, createNonce, documentOf, draw, emphasis, hidden, type Page, type Sheet, siteTile } from './layout.ts'
import { createMark, filled as filledButton, type Mark, surfaces } from './look.ts'
import { ownTargets, providerTargets } from './policy.ts'
import { brand } from './style.ts'
import { filled, gaps, type Prepared, prepared } from './prepared.ts'
import { drawSlots } from './slots.ts'
import { takeTyped, type Typed } from './typed.ts'
import { isKnown } from './person.ts'
import { type Wording, wordings } from './wording.ts'

// Beyond that a wide window has two columns.
const manyProviders = 8

/** One provider on the page. */
interface Item extends Wording {
  provider: Provider
  form: ProviderForm
  mark: Mark
  index: number
  inputs: boolean
  primary: boolean
  /** The button that scripts of a host know as `submitButton`: of the first form one types into, else of the first. */
  first: boolean
  fields: Wording['fields']
}

/** What a request brings to the page. */
interface Request {
  csrfToken: string
  callbackUrl: string
  alert: Content
  email?: string | undefined
  typed?: Typed | undefined
  /** Somebody is signed in: the passkey button then says what it is for. */
  again: boolean
}

/** Draws the page. `targets` replaces "any https address" in `form-action`. */
export async function signInPage(
  sheet: Sheet,
  params: Readonly<Record<string, string | undefined>>,
  targets: readonly string[] | undefined,
  tools: PageTools,
): Promise<Response> {
  const { ctx, speaker, base, origin } = sheet
  const { error, code, email } = params
  const providers = await ctx.providers()
  const typed = error === undefined ? undefined : await takeTyped(ctx)
  const request = {
    csrfToken: await ctx.csrfToken(),
    callbackUrl: await ctx.callbackUrl(),
    alert: error !== undefined && alert(speaker, error, code),
    email,
    typed,
  }
  const formsFor = async (away: readonly Provider[]): Promise<string[]> => [
    ...(await ownTargets(ctx, targets)),
    ...(away.length > 0 ? providerTargets(away, targets) : []),
  ]
  // What plugins add, and what somebody typed, belongs to this request alone.
  if (typed || email !== undefined || ctx.app.parts.slots.some(({ page }) => page === 'signIn')) {
    const again = providers.some((provider) => ctx.flow(provider).form?.(provider).script) && (await isKnown(ctx))
    const { page, away } = await compose(sheet, providers, { ...request, again }, tools)
    return draw(sheet, { ...page, forms: await formsFor(away) })
  }
  const take = (again: boolean): Promise<Prepared> =>
    prepared(speaker, [base, origin, again].join(' '), providers, async () => {
      const { page, away } = await compose(sheet, providers, { ...gaps, again }, tools)
      return { text: documentOf(sheet, page, gaps.nonce), away, hasScript: page.scripts !== undefined && page.scripts.length > 0 }
    })
  const plain = await take(false)
  const page = plain.hasScript && (await isKnown(ctx)) ? await take(true) : plain
  const nonce = createNonce(sheet)
  const text = filled(page, {
    nonce,
    csrfToken: markup`${request.csrfToken}`.text,
    callbackUrl: markup`${request.callbackUrl}`.text,
    alert: markup`${request.alert}`.text,
  })
  return answer(sheet, { forms: await formsFor(page.away) }, text, nonce, page.hasScript)
}

async function compose(
  sheet: Sheet,
  providers: readonly Provider[],
  request: Request,
  tools: PageTools,
): Promise<{ page: Page; away: readonly Provider[] }> {
  const { speaker } = sheet
  const { typed } = request
  const items = arrange(providers, sheet)
  for (const item of items) if (item.provider.id === typed?.provider) item.fields = filledIn(item.fields, typed.values)
  const parts = new Map<Item, Content>()
  for (const item of items) parts.set(item, await drawSlots(sheet, tools, 'form', item.provider.id))
  const marked = items.some(({ inputs, mark }) => !inputs && (mark.picture || mark.brand))
  const page: Page = {
    kind: items.length > manyProviders ? 'signin many' : 'signin',
    title: speaker.say('signIn.title'),
    heading: speaker.say('signIn.heading'),
    lead: sheet.site !== '' && speaker.say('signIn.subtitle', { site: emphasis(sheet.site) }),
    tile: siteTile(sheet.site),
    body: [
      request.alert,
      markup`<div class="providers">${items.map((item, at) => block(sheet, item, items[at - 1], request, marked, parts.get(item)))}</div>`,
      items.length === 0 && markup`<p class="message">${speaker.say('signIn.empty')}</p>`,
      items
        .filter(({ form }) => form.script)
        .map(({ name }) => markup`<noscript><p class="hint">${speaker.say('signIn.noScript', { name })}</p></noscript>`),
    ],
    light: items.map((item) => colours(item, 'light')).join(''),
    dark: items.map((item) => colours(item, 'dark')).join(''),
    scripts: items.map(({ form }) => form.script).filter((script) => script !== undefined),
  }
  return { page, away: items.filter(leaves).map(({ provider }) => provider) }
}

function arrange(providers: readonly Provider[], { ctx, speaker, origin }: Sheet): Item[] {
  const all = providers
    .map((provider): [Provider, ProviderForm] => [provider, ctx.flow(provider).form?.(provider) ?? { post: 'signin' }])
    .filter(([, form]) => !form.hidden)
  const words = wordings(speaker, all)
  const items = all.map(([provider, form], index): Item => {
    const mark = createMark((provider as { style?: Parameters<typeof createMark>[0] }).style, origin)
    return { ...(words[index] as Wording), provider, form, mark, index, inputs: hasInputs(form.fields), primary: false, first: false }
  })
  // One main action on a page: the first form one types into, or the only button there is.
  const main = items.find(({ inputs }) => inputs) ?? (items.length === 1 ? items[0] : undefined)
  if (main) main.primary = true
  const simple = items.filter(({ form }) => form.script === undefined)
  const first = simple.find(({ inputs }) => inputs) ?? simple[0]
  if (first) first.first = true
  return items
}

// What a script may have to say: it reads `data-text-<key>` of its form.
const scriptTexts = ['cancelled', 'failed', 'known', 'unsupported'] as const

// A form that posts to its own callback brings the proof along, and a mailed link comes later; anything else goes to whoever signs people in.
function leaves({ form, provider }: Item): boolean {
  return form.post === 'signin' && provider.type !== 'email'
}

function block(
  sheet: Sheet,
  item: Item,
  before: Item | undefined,
  { csrfToken, callbackUrl, email, again }: Request,
  marked: boolean,
  part: Content,
): Html {
  const { provider, form, index } = item
  const { speaker, base } = sheet
  const id = encodeURIComponent(provider.id)
  const divided = before !== undefined && (before.inputs || item.inputs)
  // A form one types into leaves the callback URL to the cookie, which this page sets.
  const secrets = { csrfToken, ...(!item.inputs && form.post === 'signin' && { callbackUrl }) }
  const script = form.script !== undefined && [
    markup` id="${provider.id}-form" data-provider="${provider.id}" data-options-url="${base}/webauthn-options/${id}"`,
    scriptTexts.map((key) => markup` data-text-${key}="${speaker.say(`script.${key}`)}"`),
  ]
  return markup`<div class="provider p${index}${(divided || item.inputs) && ' wide'}${script && ' needs-script'}">
${divided && markup`<p class="divider">${speaker.say('signIn.or')}</p>`}
<form action="${base}/${form.post}/${id}" method="post"${script}>
${hidden(secrets)}
${Object.entries(item.fields).map(([name, given]) => field(name, `input-${name}-for-${provider.id}-provider`, given, email, script !== false))}
${part}${submit(item, marked, again)}
${script && markup`<div class="script-message" role="alert"></div>`}
</form>
</div>
`
}

function filledIn(fields: Wording['fields'], values: Readonly<Record<string, string>>): Wording['fields'] {
  return Object.fromEntries(
    Object.entries(fields).map(([name, given]) => [name, Object.hasOwn(values, name) ? { ...given, value: values[name] } : given]),
  )
}

function submit({ provider, name, button, mark, inputs, form, primary, first }: Item, marked: boolean, again: boolean): Html {
  const id = first ? 'submitButton' : `submitButton-${provider.id}`
  const sign = (mark.picture || (marked && !inputs && !primary)) && drawMark(mark, name)
  const action = again && form.script !== undefined && markup` name="action" value="authenticate"`
  return markup`<button class="button${primary && ' primary'}" type="submit" id="${id}"${action}>${sign}<span class="label">${button}</span></button>`
}

function drawMark({ picture }: Mark, name: string): Html {
  if (picture?.kind === 'shape') return markup`<span class="mark shape" aria-hidden="true"></span>`
  if (picture) return markup`<span class="mark" aria-hidden="true"><img src="${picture.url}" alt=""></span>`
  return markup`<span class="mark letter" aria-hidden="true">${[...name][0]?.toUpperCase()}</span>`
}

// Custom properties of one provider: hex colours and an encoded data: URL, nothing as the host wrote it.
function colours({ mark, index, primary, inputs }: Item, scheme: 'light' | 'dark'): string {
  const rules = [
    mark.brand && `--provider-brand-color:${mark.brand};--on-brand:${mark.onBrand};`,
    mark[scheme] && `--mark:${mark[scheme]};`,
    mark.picture?.kind === 'shape' && `--shape:url("${mark.picture.url}");`,
    primary && !inputs && mark.brand && brand(filledButton(mark.brand, surfaces[scheme])),
  ].filter(Boolean)
  return rules.length > 0 ? `.p${index}{${rules.join('')}}` : ''
}
