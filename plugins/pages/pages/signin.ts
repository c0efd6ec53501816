/**
 * The sign-in page: one block per provider, drawn from what its type's `form()` says, in the order of the configuration. Several forms that begin
 * with an address or a name share one field: it is asked for first, and the ways follow.
 */
import type { Context, Provider, ProviderForm } from 'authkernel/kernel'
import {
  asksFirst,
  drawChosen,
  drawHiddenField,
  couldBe,
  hasRealms,
  type Identifier,
  identifierForm,
  identifierOf,
  providersToChoose,
} from './identifier.ts'
import { fillGaps, gaps, type Leads, type PreparedPage, prepareOnce } from './page-cache.ts'
import { takeTyped, type TypedFields } from './typed-fields.ts'
import { drawAlert } from './ui/alert.ts'
import { drawField, hasInputs, hiddenInputs } from './ui/fields.ts'
import { type Content, type Html, markup } from './ui/html.ts'
import { siteTile } from './ui/icons.ts'
import { createNonce, documentOf, drawPage, respondWith } from './ui/layout.ts'
import type { Page, Sheet } from './ui/sheet.ts'
import { formOf, leavesSite, ownTargets, providerTargets, realmTargets } from './ui/policy.ts'
import { coloursOf, createMark, drawMark, type Mark } from './ui/provider-mark.ts'
import { isolateName } from './ui/site.ts'
import { drawSlots } from './ui/tools.ts'
import { createWordings, type Wording } from './wording.ts'

// Beyond that a wide window has two columns.
const manyProviders = 8

/** One provider on the page. */
interface Item extends Wording {
  provider: Provider
  form: ProviderForm
  mark: Mark
  index: number
  inputs: boolean
  fields: Wording['fields']
  /** The field that the form begins with, when it is an address or a name. */
  identifier: Identifier | undefined
}

/** All forms at once; the one field; or what follows it. */
type Step = 'all' | 'ask' | 'ways'
/** How a block stands among the others. */
interface Place {
  marked: boolean
  main: { primary?: Item | undefined; first?: Item | undefined }
  part: Content
  before: Item | undefined
  step: Step
}

/** What a request brings to the page. */
interface Request {
  csrfToken: string
  callbackUrl: string
  alert: Content
  email?: string | undefined
  typed?: TypedFields | undefined
  /** What was typed into the field that is asked for first. */
  identifier?: string | undefined
  /** A user is signed in: the passkey button then says what it is for. */
  again: boolean
}

/** Draws the page. `targets` replaces "any https address" in `form-action`. */
export async function drawSignInPage(
  sheet: Sheet,
  params: Readonly<Record<string, string | undefined>>,
  targets: readonly string[] | undefined,
): Promise<Response> {
  const { ctx, language, base, origin } = sheet
  const { error, code, email, identifier } = params
  const providers = providersToChoose(ctx) ?? (await ctx.providers())
  const typed = error === undefined ? undefined : await takeTyped(ctx)
  const request = {
    csrfToken: await ctx.csrfToken(),
    callbackUrl: await ctx.callbackUrl(),
    alert: error !== undefined && drawAlert(language, error, code),
    email,
    typed,
    identifier,
  }
  const formsFor = async ({ away, asks }: Leads): Promise<string[]> => [
    ...(await ownTargets(ctx, targets)),
    ...(away.length > 0 ? providerTargets(away, targets) : []),
    ...(asks && hasRealms(ctx) ? realmTargets(ctx, targets) : []),
  ]
  // What plugins add, and what the user typed, belongs to this request alone.
  if (
    typed ||
    email !== undefined ||
    identifier !== undefined ||
    ctx.app.parts.slots.some(({ page }) => page === 'signIn' || page === '*')
  ) {
    const again = providers.some((provider) => ctx.flow(provider).form?.(provider).script) && (await isSignedIn(ctx))
    const { page, ...leads } = await composePage(sheet, providers, { ...request, again })
    return drawPage(sheet, { ...page, forms: await formsFor(leads) })
  }
  const preparePage = (again: boolean): Promise<PreparedPage> =>
    prepareOnce(language, [base, origin, again].join(' '), providers, async () => {
      const { page, ...leads } = await composePage(sheet, providers, { ...gaps, again })
      return { text: documentOf(sheet, page, gaps.nonce), ...leads, hasScript: page.scripts !== undefined && page.scripts.length > 0 }
    })
  const plain = await preparePage(false)
  const page = plain.hasScript && (await isSignedIn(ctx)) ? await preparePage(true) : plain
  const nonce = createNonce(sheet)
  const text = fillGaps(page, {
    nonce,
    csrfToken: markup`${request.csrfToken}`.text,
    callbackUrl: markup`${request.callbackUrl}`.text,
    alert: markup`${request.alert}`.text,
  })
  return respondWith(sheet, { forms: await formsFor(page) }, text, nonce, page.hasScript)
}

async function composePage(sheet: Sheet, providers: readonly Provider[], request: Request): Promise<Leads & { page: Page }> {
  const { language } = sheet
  const { typed } = request
  const all = arrangeItems(providers, sheet)
  const asksIdentifier = asksFirst(sheet.ctx, all)
  const identifier = request.identifier ?? typedIdentifier(all, typed)
  const step = !asksIdentifier ? 'all' : identifier === undefined ? 'ask' : 'ways'
  // An address is no phone number. Who has an account plays no part.
  const items = step === 'ways' ? all.filter((item) => !waitsForIdentifier(item) || couldFit(item, identifier)) : all
  const main = mainOf(items, step)
  for (const item of items) if (item.provider.id === typed?.provider) item.fields = filledIn(item.fields, typed.values)
  const parts = new Map<Item, Content>()
  for (const item of items) {
    const { id } = item.provider
    parts.set(item, await drawSlots(sheet, 'form', id, `/${item.form.post}/${encodeURIComponent(id)}`))
  }
  const marked = items.some(({ inputs, mark }) => !inputs && (mark.picture || mark.brand))
  const draw = (item: Item, at: number, list: readonly Item[]): Html =>
    drawBlock(sheet, item, { ...request, identifier }, { marked, main, part: parts.get(item), before: list[at - 1], step })
  // Forms that wait for the field keep their place in the document, for scripts of the host that know them by their ids.
  const waiting = step === 'ask' ? items.filter(waitsForIdentifier) : []
  const visible = items.filter((item) => !waiting.includes(item))
  const question =
    step === 'ask' && markup`<div class="provider wide">${identifierForm(sheet, items, request.csrfToken, request.email)}</div>`
  const page: Page = {
    kind: items.length > manyProviders ? 'signin many' : 'signin',
    title: language.say('signIn.title'),
    heading: language.say('signIn.heading'),
    lead: sheet.site !== '' && language.say('signIn.subtitle', { site: isolateName(sheet.site) }),
    tile: siteTile(sheet.site),
    body: [
      request.alert,
      step === 'ways' && drawChosen(sheet, identifier as string),
      markup`<div class="providers">${question}${visible.map(draw)}</div>`,
      waiting.length > 0 && markup`<div hidden>${waiting.map(draw)}</div>`,
      items.length === 0 && markup`<p class="message">${language.say('signIn.empty')}</p>`,
      items
        .filter(({ form }) => form.script)
        .map(({ name }) => markup`<noscript><p class="hint">${language.say('signIn.noScript', { name })}</p></noscript>`),
    ],
    light: items.map((item) => coloursOf(item, item === main.primary, 'light')).join(''),
    dark: items.map((item) => coloursOf(item, item === main.primary, 'dark')).join(''),
    scripts: items.map(({ form }) => form.script).filter((script) => script !== undefined),
  }
  return { page, away: items.filter(({ form }) => leavesSite(form)).map(({ provider }) => provider), asks: step === 'ask' }
}

function arrangeItems(providers: readonly Provider[], { ctx, language, origin }: Sheet): Item[] {
  const all = providers.map((provider): [Provider, ProviderForm] => [provider, formOf(ctx, provider)]).filter(([, form]) => !form.hidden)
  const words = createWordings(language, all)
  return all.map(([provider, form], index): Item => {
    const mark = createMark((provider as { style?: Parameters<typeof createMark>[0] }).style, origin)
    return { ...(words[index] as Wording), provider, form, mark, index, inputs: hasInputs(form.fields), identifier: identifierOf(form) }
  })
}

/** One main action on a page: the first form one types into, or the only button there is. `first` has the id that scripts of hosts know. */
function mainOf(items: readonly Item[], step: Step): { primary?: Item | undefined; first?: Item | undefined } {
  if (step === 'ask') return {}
  const simple = items.filter(({ form }) => form.script === undefined)
  return {
    primary: items.find(({ inputs }) => inputs) ?? (items.length === 1 ? items[0] : undefined),
    first: simple.find(({ inputs }) => inputs) ?? simple[0],
  }
}

function couldFit({ identifier }: Item, text: string | undefined): boolean {
  return identifier === undefined || text === undefined || couldBe(identifier, text)
}

function waitsForIdentifier({ identifier, form }: Item): boolean {
  return identifier !== undefined && form.script === undefined
}

/** After a wrong password: the name that was typed with it. */
function typedIdentifier(items: readonly Item[], typed: TypedFields | undefined): string | undefined {
  const name = items.find(({ provider }) => provider.id === typed?.provider)?.identifier?.name
  return name === undefined ? undefined : typed?.values[name]
}

// What a script may have to say: it reads `data-text-<key>` of its form.
const scriptTexts = ['cancelled', 'failed', 'known', 'unsupported'] as const

function drawBlock(sheet: Sheet, item: Item, request: Request, { marked, main, part, before, step }: Place): Html {
  const { provider, form, index, identifier } = item
  const { language, base } = sheet
  const id = encodeURIComponent(provider.id)
  const script = form.script !== undefined
  // What was asked for already leaves a passkey, or a mailed link, with a button alone.
  const typing = item.inputs && !(step !== 'all' && script && identifier !== undefined)
  const divided = (step === 'ask' && !before) || (before !== undefined && (before.inputs || typing))
  // A form one types into leaves the callback URL to the cookie, which this page sets.
  const secrets = { csrfToken: request.csrfToken, ...(!item.inputs && form.post === 'signin' && { callbackUrl: request.callbackUrl }) }
  const scripted = script && [
    markup` id="${provider.id}-form" data-provider="${provider.id}" data-options-url="${base}/webauthn-options/${id}"`,
    scriptTexts.map((key) => markup` data-text-${key}="${language.say(`script.${key}`)}"`),
  ]
  const draw = ([name, attributes]: [string, Wording['fields'][string]]): Html => {
    const key = `input-${name}-for-${provider.id}-provider`
    const isCarried = name === identifier?.name && (step === 'ways' || (step === 'ask' && script))
    return isCarried
      ? drawHiddenField(name, key, attributes, couldFit(item, request.identifier) ? request.identifier : undefined, script)
      : drawField(name, key, attributes, request.email, script)
  }
  return markup`<div class="provider p${index}${(divided || typing) && ' wide'}${script && ' needs-script'}">
${divided && markup`<p class="divider">${language.say('signIn.or')}</p>`}
<form action="${base}/${form.post}/${id}" method="post"${scripted}>
${hiddenInputs(secrets)}
${Object.entries(item.fields).map(draw)}
${part}${drawSubmit(item, main, marked, request.again)}
${script && markup`<div class="script-message" role="alert"></div>`}
</form>
</div>
`
}

function filledIn(fields: Wording['fields'], values: Readonly<Record<string, string>>): Wording['fields'] {
  return Object.fromEntries(
    Object.entries(fields).map(([name, attributes]) => [
      name,
      Object.hasOwn(values, name) ? { ...attributes, value: values[name] } : attributes,
    ]),
  )
}

function drawSubmit(item: Item, main: Place['main'], marked: boolean, again: boolean): Html {
  const { provider, name, button, mark, inputs, form } = item
  const primary = item === main.primary
  const id = item === main.first ? 'submitButton' : `submitButton-${provider.id}`
  const sign = (mark.picture || (marked && !inputs && !primary)) && drawMark(mark, name)
  const action = again && form.script !== undefined && markup` name="action" value="authenticate"`
  return markup`<button class="button${primary && ' primary'}" type="submit" id="${id}"${action}>${sign}<span class="label">${button}</span></button>`
}

/** False also where the store cannot say, which is no reason to show no page. */
async function isSignedIn(ctx: Context): Promise<boolean> {
  try {
    return (await ctx.session.user(ctx)) !== null
  } catch {
    return false
  }
}
