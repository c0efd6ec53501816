/**
 * The one field of a sign-in page with several forms that begin with an address or a name. What follows are the ways that the deployment offers,
 * the same for every user.
 */
import { type Context, type InputAttributes, json, type Provider, type ProviderForm, redirectTo, withParams } from 'authkernel/kernel'
import { findHomeRealms } from './home-realm.ts'
import { drawField, isHidden, hiddenInputs } from './ui/fields.ts'
import { type Html, markup } from './ui/html.ts'
import type { Sheet } from './ui/sheet.ts'
import { formOf, leavesSite } from './ui/policy.ts'

/** What users type first: an address, a name, a number. */
export type Kind = 'email' | 'name' | 'phone'
/** The field of a form that one begins with. */
export interface Identifier {
  name: string
  kind: Kind
}
interface Form {
  provider: Provider
  form: ProviderForm
  identifier: Identifier | undefined
}

const names: Readonly<Record<string, Kind>> = {
  email: 'email',
  mail: 'email',
  username: 'name',
  user: 'name',
  login: 'name',
  identifier: 'name',
  phone: 'phone',
  tel: 'phone',
}
const kinds: readonly Kind[] = ['email', 'name', 'phone']
const typing: Readonly<Record<Kind, string>> = { email: 'email', name: 'text', phone: 'tel' }
/** Longer than any address, name or number. */
export const maxIdentifier = 254

/** The identifier of a form; undefined for a form that begins with something else. */
export function identifierOf({ fields = {} }: ProviderForm): Identifier | undefined {
  const first = Object.entries(fields).find(([, attributes]) => !isHidden(attributes))
  if (!first) return undefined
  const [name, { type, autocomplete }] = first
  const purpose = String(autocomplete ?? '').split(/\s+/)
  // A text that is a username may be an address, too.
  if (type === 'text' && purpose.includes('username')) return { name, kind: 'name' }
  if (type === 'email' || purpose.includes('email')) return { name, kind: 'email' }
  if (type === 'tel' || purpose.includes('tel')) return { name, kind: 'phone' }
  const kind = names[name.toLowerCase()] ?? (purpose.includes('username') ? 'name' : undefined)
  return kind && (type === undefined || type === 'text') ? { name, kind } : undefined
}

/**
 * Whether the page asks for the identifier first: several forms begin with one, or the address may lead to the provider of an organization. With
 * buttons alone, which need no address, only providers that the hook `provider` answers are such ones.
 */
export function asksFirst(ctx: Context, forms: readonly Form[]): boolean {
  const count = forms.filter(({ identifier }) => identifier).length
  return count > 1 || (hasRealms(ctx) && (count > 0 || forms.length === 0 || ctx.has('hook', 'provider')))
}

/** Whether an address may lead to a provider of its domain. */
export function hasRealms(ctx: Context): boolean {
  if (!ctx.has('hook', 'homeRealm') && !ctx.app.services.homeRealm) return false
  return ctx.has('hook', 'provider') || [...ctx.app.providers.values()].some((provider) => leavesSite(formOf(ctx, provider)))
}

/** Whether a text could be of a kind. Says nothing about whether an account has it. */
export function couldBe({ kind }: Identifier, text: string): boolean {
  if (kind === 'email') return text.includes('@')
  return kind === 'phone' ? /^\+?[\d\s().-]+$/.test(text) : true
}

/** The form with the one field. `value` fills it in. */
export function identifierForm(sheet: Sheet, forms: readonly Form[], csrfToken: string, value: string | undefined): Html {
  const { language, base, ctx } = sheet
  const accepted = kinds.filter((kind) => (kind === 'email' && hasRealms(ctx)) || forms.some(({ identifier }) => identifier?.kind === kind))
  const passkeys = forms.some(({ form }) => Object.values(form.fields ?? {}).some(offersPasskeys))
  const input = drawField('identifier', 'input-identifier-for-signin', {
    label: language.find(`signIn.identifier.${accepted.join('-')}`) ?? '',
    type: accepted.length === 1 ? typing[accepted[0] as Kind] : 'text',
    required: true,
    autocomplete: passkeys ? 'username webauthn' : 'username',
    maxlength: maxIdentifier,
    autocapitalize: 'none',
    spellcheck: 'false',
    ...(value !== undefined && { value }),
  })
  return markup`<form action="${base}/identifier" method="post" id="identifier-form">
${hiddenInputs({ csrfToken })}
${input}
<button class="button primary" type="submit" id="submitButton"><span class="label">${language.say('signIn.continue')}</span></button>
</form>`
}

/** What was typed, above the ways, and the way back. */
export function drawChosen({ language, base }: Sheet, text: string): Html {
  return markup`<p class="who"><bdi>${text}</bdi> <a href="${base}/signin">${language.say('signIn.change')}</a></p>`
}

/** The field of a form that was asked for already: there for password managers and for scripts, and not to be typed again. */
export function drawHiddenField(name: string, id: string, attributes: InputAttributes, value: string | undefined, scripted: boolean): Html {
  const { autocomplete, label = name } = attributes
  const input: InputAttributes = {
    label,
    type: 'text',
    ...(autocomplete !== undefined && { autocomplete }),
    ...(value !== undefined && { value }),
  }
  return markup`<div hidden>${drawField(name, id, input, undefined, scripted)}</div>`
}

function offersPasskeys({ autocomplete }: InputAttributes): boolean {
  return String(autocomplete ?? '')
    .split(/\s+/)
    .includes('webauthn')
}

/**
 * `POST /identifier`, and `client.pages.beginSignIn({ identifier, callbackUrl })`, which gets the choice as a list. It leads to the provider of the company, or to a choice where there are several. Else it leads to the sign-in page with the methods that fit what was typed.
 */
export async function continueWithIdentifier(ctx: Context): Promise<Response> {
  const { identifier } = await ctx.body()
  const text = typeof identifier === 'string' ? identifier.trim() : ''
  // A script of this site draws the choice itself.
  const isScript = ctx.request.headers.has('x-auth-return-redirect')
  if (text === '' || text.length > maxIdentifier) return isScript ? json({ providers: [] }) : ctx.page('signIn')
  // A form that is filled in here is on the page.
  const realms = (await findHomeRealms(ctx, text)).filter((provider) => leavesSite(formOf(ctx, provider)))
  const [only] = realms
  const redirect = only && realms.length === 1 ? await startAt(ctx, only) : undefined
  if (redirect) return redirect
  if (isScript) return json({ providers: realms.map(({ id, name, type }) => ({ id, name, type })) })
  const own = ctx.app.config.pages.signIn
  if (own !== undefined)
    return realms.length > 1 ? redirectTo(withParams(own, { providers: realms.map(({ id }) => id).join(' ') })) : ctx.page('signIn')
  if (realms.length > 1) choices.set(ctx, realms)
  return ctx.render('signIn', { identifier: text })
}

// Beside the parameters of the page: those are also the query of an address, which must not show a connection by its id.
const choices = new WeakMap<Context, readonly Provider[]>()

/** The providers that the user of this request chooses from, where a company has several; undefined: those of the app. */
export function providersToChoose(ctx: Context): readonly Provider[] | undefined {
  return choices.get(ctx)
}

/** Begins the sign-in with the provider of a company. The callback URL is the one that the page keeps in its cookie. */
async function startAt(ctx: Context, provider: Provider): Promise<Response | undefined> {
  const redirect = await ctx.flow(provider).start?.(ctx, provider)
  const user = redirect && ctx.has('on', 'linkRequested') ? await ctx.session.user(ctx) : null
  if (user) await ctx.emit('linkRequested', { user, provider: provider.id })
  return redirect
}
