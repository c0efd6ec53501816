/** A host with guests and organizations: the same in the test and in each of its processes. */
import { createAuth } from 'authkernel'
import type { Adapter, Auth, MailMessage, Plugin, RecordTable } from 'authkernel/kernel'
import { type AccountsApi, accountsPlugin } from 'authkernel/plugins/accounts'
import { type ApiKeysApi, apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { type GuestApi, guestPlugin } from 'authkernel/plugins/guest'
import { type MemberRow, type OrganizationsApi, organizationsPlugin } from 'authkernel/plugins/organizations'

/** Starts `times` of them at once; answers `done` or the type of the error of each, and for guests how many were handed over. */
export type PeopleTask = { do: 'people'; times: number } & (
  | { act: 'accept'; cookie: string; token: string }
  | { act: 'leave'; userId: string; organization: string }
  | { act: 'deleteUser'; userId: string }
  | { act: 'demote'; userId: string; other: string; organization: string }
  | { act: 'join'; userIds: string[]; organization: string }
  | { act: 'suspend'; userId: string; organization: string }
  | { act: 'createKey'; userId: string; organization: string }
  | { act: 'signIn'; cookie: string; csrfToken: string; user: string }
)
/** What tests look into. */
interface Inside {
  mails: MailMessage[]
  members(): Promise<RecordTable<MemberRow>>
  /** How many keys a user has. */
  keys(userId: string): Promise<number>
  /** How often the data of a guest was handed over here. */
  handed(): number
}

export function peopleHost(
  adapter: Adapter,
  { members: max = 20_000 }: { members?: number } = {},
): Auth<AccountsApi & ApiKeysApi & GuestApi & OrganizationsApi & { inside: Inside }> {
  let count = 0
  const mails: MailMessage[] = []
  const inside: Plugin<{ inside: Inside }> = {
    name: 'inside',
    setup(kernel) {
      kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) })
      const members = async () => (await kernel.contextOf({ job: 'inside' })).records('organizationMember')
      const keys = async (userId: string) => (await kernel.contextOf({ job: 'inside' })).records('apiKey').count({ userId })
      return { inside: { mails, members, keys, handed: () => count } }
    },
  }
  return createAuth({
    secret: 'one-secret-of-all-processes-of-forty-letters',
    origin: 'http://localhost:3000',
    trustHost: true,
    env: false,
    logger: { error() {}, warn() {} },
    adapter,
    session: { strategy: 'jwt' },
    providers: [
      { id: 'credentials', name: 'Name', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) },
    ],
  })
    .use(inside)
    .use(accountsPlugin())
    .use(apiKeysPlugin())
    .use(guestPlugin({ convert: () => void count++, max: 1000 }))
    .use(
      organizationsPlugin({
        statements: { project: ['update'] },
        roles: { member: { project: '*', member: ['read'] } },
        limits: { members: max },
      }),
    )
}

let host: ReturnType<typeof peopleHost> | undefined

export async function actAsPeople(adapter: Adapter, task: PeopleTask): Promise<PromiseSettledResult<unknown>[]> {
  const auth = (host ??= peopleHost(adapter))
  const before = auth.inside.handed()
  const ends = await Promise.all(
    [...Array(task.times).keys()].map((at) =>
      one(auth, task, at).then(
        () => 'done',
        (error: { type?: string }) => error.type ?? String(error),
      ),
    ),
  )
  const values = task.act === 'signIn' ? [auth.inside.handed() - before] : ends
  return values.map((value) => ({ status: 'fulfilled', value }))
}

async function one(auth: ReturnType<typeof peopleHost>, task: PeopleTask, at: number): Promise<unknown> {
  const { organizations } = auth
  const system = { system: true } as const
  if (task.act === 'accept') {
    return organizations.accept(new Request('http://localhost:3000/', { headers: { cookie: task.cookie } }), task.token)
  }
  if (task.act === 'deleteUser') return auth.users.delete({ userId: task.userId })
  if (task.act === 'leave') return organizations.leave({ userId: task.userId }, task.organization)
  if (task.act === 'suspend') return organizations.suspend(system, task.organization, task.userId)
  if (task.act === 'createKey') return auth.apiKeys.create({ userId: task.userId }, { name: 'k', organization: task.organization })
  if (task.act === 'demote') return organizations.setRole({ userId: task.userId }, task.organization, task.other, 'member')
  if (task.act === 'join') return organizations.add(system, task.organization, task.userIds[at] as string)
  const body = new URLSearchParams({ csrfToken: task.csrfToken, user: task.user })
  const response = await auth.handler(
    new Request('http://localhost:3000/auth/callback/credentials', { method: 'POST', headers: { cookie: task.cookie }, body }),
  )
  if (response.headers.getSetCookie().every((line) => !line.includes('session-token'))) throw new Error('the sign-in failed')
  return undefined
}
