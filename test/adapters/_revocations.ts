/** A host whose sessions are in cookies and whose revocations are a feed: the same in each process of the test. */
import { createAuth } from 'authkernel'
import type { Adapter, Auth } from 'authkernel/kernel'
import { type AccountsApi, accountsPlugin } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { revocationFeedPlugin } from 'authkernel/plugins/revocation-feed'

/** Ends the sessions of each user, several at once, and tells of each when it is acknowledged. */
export interface RevocationTask {
  do: 'revocations'
  users: string[]
}

const atOnce = 4

/** The feed is read at each use of a token, so that an acknowledged end counts from that moment on. */
export function feedHost(adapter: Adapter): Auth<AccountsApi> {
  return createAuth({
    secret: 'one-secret-of-all-processes-of-forty-letters',
    trustHost: true,
    env: false,
    logger: { error() {}, warn() {} },
    session: { strategy: 'jwt', revocable: true },
    providers: [
      { id: 'credentials', name: 'Password', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) },
    ],
  })
    .use(adapterPlugin(adapter))
    .use(accountsPlugin())
    .use(revocationFeedPlugin({ staleness: 0, shards: 3 }))
}

export async function endUsers(adapter: Adapter, { users }: RevocationTask): Promise<void> {
  const auth = feedHost(adapter)
  const left = [...users]
  const work = async (): Promise<void> => {
    for (let userId = left.pop(); userId !== undefined; userId = left.pop()) {
      try {
        await auth.sessions.revokeAll({ userId })
        process.send!({ acknowledged: userId })
      } catch (error) {
        process.send!({ failed: `${userId}: ${String(error)}` })
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  process.send!({ finished: true })
}
