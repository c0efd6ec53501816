/** The section of the account page: users create, rotate and revoke their keys without a program. */
import { type Context, HttpError, type Kernel, type PageTools, type PageView, redirectTo } from 'authkernel/kernel'
import { createKey, listKeys, revokeKey, rotateKey } from './manage.ts'
import { messages } from './messages.ts'
import type { ResolvedOptions } from './options.ts'
import { findPageUserId, leadToProof } from './owner.ts'
import type { ApiKey } from './tables.ts'

const day = 86_400
const choices = [30, 90, 365]

/** Adds the section, what its forms post to, and the page that shows a new key once. */
export function addAccountSection(kernel: Kernel, options: ResolvedOptions): void {
  kernel.messages(messages)
  kernel.accountSection({
    id: 'api-keys',
    order: 280,
    async draw(ctx, tools) {
      const userId = await findPageUserId(ctx)
      if (userId === null) return undefined
      const { html, say, alert } = tools
      const keys = await listKeys(ctx, options, { userId })
      const error = ctx.url.searchParams.get('api-keys') ?? undefined
      return {
        heading: say('api-keys.title'),
        body: [
          alert(error),
          keys.length > 0 &&
            html`<ul class="rows">
              ${await Promise.all(keys.map((key) => drawKey(tools, key)))}
            </ul>`,
          await tools.form('/account/api-keys', drawNewKeyForm(tools, options), { action: 'create' }),
          html`<p class="note">${say('api-keys.hint')}</p>`,
        ],
      }
    },
  })
  kernel.page('apiKeyMade', drawNewKey)
  kernel.route({ method: 'POST', path: '/account/api-keys', handler: (ctx) => handleForm(ctx, options) })
}

async function drawKey({ html, say, form, date }: PageTools, key: ApiKey) {
  const facts = [
    key.shown,
    say('api-keys.made', { date: date(key.created) }),
    key.lastUsed && say('api-keys.used', { date: date(key.lastUsed) }),
    key.expires && say('api-keys.expires', { date: date(key.expires) }),
    ...key.scopes,
  ].filter(Boolean)
  const button = (action: string, text: string) =>
    form(
      '/account/api-keys',
      html`<button class="button small" type="submit" aria-describedby="key-${key.id}"><span class="label">${say(text)}</span></button>`,
      {
        action,
        id: key.id,
      },
    )
  return html`<li>
    <span id="key-${key.id}"><bdi>${key.name}</bdi><small>${facts.map((fact, at) => [at > 0 && ' · ', fact])}</small></span>
    ${!key.rotated && (await button('rotate', 'api-keys.rotate'))}${await button('revoke', 'api-keys.revoke')}
  </li>`
}

function drawNewKeyForm({ html, say, field, submit }: PageTools, { scopes = [], maxAge }: ResolvedOptions) {
  const days = choices.filter((count) => maxAge === undefined || count * day <= maxAge)
  const boxes = scopes.map(
    (scope) => html`<label class="check"><input type="checkbox" name="scope" value="${scope}" /> <span>${scope}</span></label>`,
  )
  return [
    field('name', { label: 'api-keys.name', type: 'text', required: true, maxlength: 100, autocomplete: 'off' }, 'api-keys'),
    ...boxes,
    html`<label
      >${say('api-keys.life')}
      <select name="days">
        ${days.map((count) => html`<option value="${count}">${say('api-keys.days', { days: count })}</option>`)}
        <option value="">${say(maxAge === undefined ? 'api-keys.endless' : 'api-keys.longest')}</option>
      </select></label
    >`,
    submit(say('api-keys.create'), { quiet: true }),
  ]
}

async function handleForm(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const userId = await findPageUserId(ctx)
  if (userId === null) return ctx.page('signIn', { callbackUrl: `${ctx.base}/account` })
  const form = await ctx.form()
  const [action, id] = [form.get('action'), form.get('id') ?? '']
  if (action === 'revoke') await revokeKey(ctx, { userId }, id)
  if (action === 'rotate' || action === 'create') {
    const response = await leadToProof(ctx, options)
    if (response) return response
    const key = action === 'rotate' ? await rotateKey(ctx, options, { userId }, id) : await createFromForm(ctx, options, userId, form)
    if (typeof key === 'string') return redirectTo(`${ctx.base}/account?api-keys=${key}#api-keys`)
    if (key) return ctx.render('apiKeyMade', { key: key.key, name: key.name })
  }
  return redirectTo(`${ctx.base}/account#api-keys`)
}

/** The key, or the code of the alert. */
async function createFromForm(ctx: Context, options: ResolvedOptions, userId: string, form: URLSearchParams) {
  const days = form.get('days') ?? ''
  const expiresIn = /^[1-9]\d{0,4}$/.test(days) ? Number(days) * day : undefined
  try {
    return await createKey(ctx, options, { userId }, { name: form.get('name') ?? '', scopes: form.getAll('scope'), expiresIn })
  } catch (error) {
    if (!(error instanceof HttpError) || error.status >= 500) throw error
    return error.status === 409 ? 'TooManyApiKeys' : 'ApiKeyRefused'
  }
}

// The answer to a form, which no history keeps: the text of a key is shown once.
async function drawNewKey(
  _ctx: Context,
  { copyable, say, link }: PageTools,
  { key = '', name = '' }: Readonly<Record<string, string | undefined>>,
): Promise<PageView> {
  return {
    title: say('api-keys.new', { name }),
    lead: say('api-keys.once'),
    body: [copyable(key), link(say('api-keys.back'), '/account')],
  }
}
