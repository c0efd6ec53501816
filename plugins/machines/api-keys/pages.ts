/** The section of the account page: users create, rotate and revoke their keys without a program. */
import { type Content, type Context, HttpError, type Kernel, type PageTools, type PageView, redirectTo } from 'authkernel/kernel'
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
        text: say('api-keys.hint'),
        body: [
          alert(error),
          html`<ul class="ui-list ui-flush">
            ${(await Promise.all(keys.map((key) => drawKey(tools, key)))).map((row) => html`<li>${row}</li>`)}
          </ul>`,
          // What was typed stays after a refusal.
          await tools.form('/account/api-keys', drawNewKeyForm(tools, options, ctx.url.searchParams), { action: 'create' }),
        ],
      }
    },
  })
  kernel.page('apiKeyMade', drawNewKey)
  kernel.route({ method: 'POST', path: '/account/api-keys', handler: (ctx) => handleForm(ctx, options) })
}

async function drawKey({ html, say, form, button, row, tag, date }: PageTools, key: ApiKey): Promise<Content> {
  const about = `key-${key.id}`
  const act = (action: string, text: string, tone?: 'danger'): Promise<Content> =>
    form('/account/api-keys', button(say(text), { describedBy: about, tone }), { action, id: key.id })
  return row({
    id: about,
    title: html`<bdi>${key.name}</bdi>`,
    tags: key.scopes.map((scope) => [tag(scope), ' ']),
    text: [
      html`<code>${key.shown}</code>`,
      say('api-keys.made', { date: date(key.created) }),
      key.lastUsed && say('api-keys.used', { date: date(key.lastUsed) }),
      key.expires && say('api-keys.expires', { date: date(key.expires) }),
    ],
    actions: [!key.rotated && (await act('rotate', 'api-keys.rotate')), await act('revoke', 'api-keys.revoke', 'danger')],
  })
}

function drawNewKeyForm({ html, say, field, select, button }: PageTools, { scopes = [], maxAge }: ResolvedOptions, typed: URLSearchParams) {
  const chosen = typed.getAll('key-scope')
  const days = choices.filter((count) => maxAge === undefined || count * day <= maxAge)
  const boxes = scopes.map(
    (scope) =>
      html`<label class="check"
        ><input type="checkbox" name="scope" value="${scope}" ${chosen.includes(scope) && html` checked`} /> <span>${scope}</span></label
      >`,
  )
  return [
    field(
      'name',
      { label: 'api-keys.name', type: 'text', required: true, maxlength: 100, autocomplete: 'off', value: typed.get('key-name') ?? '' },
      'api-keys',
    ),
    ...boxes,
    select(
      'days',
      {
        label: 'api-keys.life',
        options: [
          ...days.map((count) => [String(count), say('api-keys.days', { days: count })] as const),
          ['', say(maxAge === undefined ? 'api-keys.endless' : 'api-keys.longest')],
        ],
        value: typed.get('key-days') ?? String(days[0] ?? ''),
      },
      'api-keys',
    ),
    button(say('api-keys.create'), { tone: 'primary' }),
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
    if (typeof key === 'string') {
      const kept = new URLSearchParams({
        'api-keys': key,
        'key-name': (form.get('name') ?? '').slice(0, 200),
        'key-days': form.get('days') ?? '',
      })
      for (const scope of form.getAll('scope').slice(0, 50)) kept.append('key-scope', scope.slice(0, 100))
      return redirectTo(`${ctx.base}/account?${kept}#api-keys`)
    }
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
