/** The list of users with search, filters, order and pages, and the forms for a new one. */
import type { Content, PageTools, PageView } from 'authkernel/kernel'
import type { PageRequest, Params } from './pages-frame.ts'
import type { ListedUser, UserSearch } from './users.ts'

const limit = 50
const columns = ['email', 'name', 'id'] as const

export async function drawUsers({ acts, ctx, tools, params, may }: PageRequest): Promise<PageView> {
  const { say, table, card, buttonLink, toast, alert } = tools
  const search = searchOf(params)
  const found = await acts.list(ctx.request, search)
  const { page = 1 } = search
  const { users, total = users.length } = found
  const from = (page - 1) * limit + 1
  const providers = [...ctx.app.providers.values()].map(({ id, name }) => [id, name] as const)
  const choice = (name: string, label: string, options: readonly (readonly [string, Content])[]) => ({
    name,
    label: say(label),
    value: params[name],
    options: [['', say('admin.any', { what: say(label) })] as const, ...options],
  })
  return {
    title: say('admin.title'),
    lead: say('admin.found', { count: new Intl.NumberFormat(tools.lang).format(total) }),
    body: [
      alert(params['error']),
      params['done'] !== undefined && toast(say('admin.done')),
      card({
        title: say('admin.title'),
        actions: [
          may('inviteUser') && buttonLink(say('admin.inviteUser'), '/admin/new?as=invite'),
          may('createUser') && buttonLink(say('admin.createUser'), '/admin/new', { tone: 'primary' }),
        ],
        body: table({
          label: say('admin.title'),
          path: '/admin',
          query: params,
          search: { label: say('admin.search-label'), value: params['q'] ?? params['email'] },
          filters: [
            choice('banned', 'admin.status', [
              ['yes', say('admin.banned')],
              ['no', say('admin.active')],
            ]),
            choice('verified', 'admin.email', [
              ['yes', say('admin.proved')],
              ['no', say('admin.unproved')],
            ]),
            ...(ctx.app.plugins.includes('two-factor')
              ? [
                  choice('factor', 'admin.factors', [
                    ['yes', say('admin.on')],
                    ['no', say('admin.off')],
                  ]),
                ]
              : []),
            choice('provider', 'admin.accounts', providers),
            choice('seen', 'admin.lastSeen', [
              ['7', say('admin.days', { days: 7 })],
              ['30', say('admin.days', { days: 30 })],
              ['90', say('admin.days', { days: 90 })],
            ]),
          ],
          sort: params['sort'],
          columns: [
            { title: say('admin.user'), sort: 'name' },
            { title: say('admin.email'), sort: 'email' },
            { title: say('admin.status') },
            { title: say('admin.lastSeen') },
          ],
          rows: users.map((user) => rowOf(tools, user)),
          range: { from: users.length === 0 ? 0 : from, to: from + users.length - 1, total },
          ...(page > 1 && { previous: { page: String(page - 1) } }),
          ...(from + users.length - 1 < total && users.length > 0 && { next: { page: String(page + 1) } }),
        }),
      }),
    ],
  }

  function searchOf(query: Params): UserSearch {
    const { q, email, banned, verified, factor, provider, organization, seen, sort = '' } = query
    const text = q ?? email
    const name = sort.replace(/^-/, '')
    const isOn = (value: string | undefined): boolean | undefined => (value === 'yes' ? true : value === 'no' ? false : undefined)
    const since = /^\d{1,3}$/.test(seen ?? '') ? new Date(ctx.now.getTime() - Number(seen) * 86_400_000) : undefined
    return {
      ...(text && { text }),
      ...(isOn(banned) !== undefined && { banned: isOn(banned) }),
      ...(isOn(verified) !== undefined && { verified: isOn(verified) }),
      ...(isOn(factor) !== undefined && { factor: isOn(factor) }),
      ...(provider && { provider }),
      ...(organization && { organization }),
      ...(since && { seenSince: since }),
      ...(columns.includes(name as 'id') && { sort: name as 'id', order: sort.startsWith('-') ? ('desc' as const) : ('asc' as const) }),
      page: /^[1-9]\d{0,4}$/.test(query['page'] ?? '') ? Number(query['page']) : 1,
      limit,
    }
  }
}

function rowOf({ html, say, avatar, tag, moment, base }: PageTools, user: ListedUser): Content[] {
  const { id, name, email, image, ban, emailVerified, lastSeen } = user
  const href = `${base}/admin/user?${new URLSearchParams({ id }).toString()}`
  return [
    html`<span class="ui-who"
      >${avatar({ name: userLabel(user), picture: image })} <a href="${href}"><bdi>${name ?? email ?? id}</bdi></a></span
    >`,
    html`<bdi>${email ?? '–'}</bdi>`,
    ban ? tag(say('admin.banned'), 'danger') : emailVerified ? tag(say('admin.proved'), 'ok') : tag(say('admin.unproved'), 'warn'),
    lastSeen ? moment(lastSeen) : say('admin.never'),
  ]
}

/** What a user is called in a list. */
export function userLabel({ name, email, id }: Pick<ListedUser, 'name' | 'email' | 'id'>): string {
  return name ?? email ?? id
}

/** `GET /admin/new`: the form for a new user, `as=invite` for one who gets a mail. What was typed is kept. */
export async function drawNew({ tools, params }: PageRequest): Promise<PageView> {
  const { say, card, form, field, submit, alert, typed } = tools
  const act = params['as'] === 'invite' ? 'inviteUser' : 'createUser'
  const body = await form(
    '/admin/new',
    [
      field('email', { label: 'Email', type: 'email', required: true, maxlength: 254, value: typed('email'), autocomplete: 'off' }),
      field('name', { label: 'admin.name', type: 'text', maxlength: 200, value: typed('name'), autocomplete: 'off' }),
      field('reason', { label: 'admin.reason', type: 'text', required: true, maxlength: 500, value: typed('reason') }),
      act === 'createUser' &&
        field('verified', {
          label: 'admin.verifyAddress',
          type: 'checkbox',
          value: 'yes',
          ...(typed('verified') === 'yes' && { checked: true }),
        }),
      submit(say(`admin.${act}`)),
    ],
    { as: params['as'] },
  )
  return {
    title: say(`admin.${act}`),
    body: [alert(params['error']), card({ title: say(`admin.${act}`), text: say(`admin.${act}-text`), body })],
    ...(params['error'] !== undefined && { status: 400 }),
  }
}
