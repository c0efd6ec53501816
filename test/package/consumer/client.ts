/** `createAuthClient<typeof auth>()` of the packed package: methods of plugins of the package, and of a stranger's, from their declarations alone. */
import { createAuth, type Session } from 'authkernel'
import { AuthClientError, createAuthClient } from 'authkernel/client'
import { clientMethod, clientMethods, definePlugin } from 'authkernel/kernel'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type IsAny<T> = 0 extends 1 & T ? true : false
const proves = <_T extends true>(): void => {}
const denies = <_T extends false>(): void => {}

declare module 'authkernel' {
  interface Session {
    department?: string
  }
}

const asVote = (sent: unknown): { stars: number } => {
  const { stars } = Object(sent) as { stars?: unknown }
  if (typeof stars !== 'number') throw new TypeError('stars: a number')
  return { stars }
}
/** A stranger's: nothing of the package knows it. */
const votesPlugin = () =>
  definePlugin({
    name: 'votes',
    setup: (kernel) =>
      clientMethods(kernel, 'votes', {
        give: clientMethod(asVote, (ctx, { stars }) => ({ stars, at: ctx.now })),
        getAverage: clientMethod(() => 4.5),
      }),
  })

export const auth = createAuth({ secret: 'a secret of at least thirty-two characters' })
  .use(passwordsPlugin({ breached: false }))
  .use(twoFactorPlugin())
  .use(votesPlugin())
export const client = createAuthClient<typeof auth>()

denies<IsAny<typeof client>>()
denies<IsAny<typeof client.votes>>()
proves<Same<Parameters<typeof client.votes.give>, [input: { stars: number }]>>()
proves<Same<ReturnType<typeof client.votes.give>, Promise<{ stars: number; at: string }>>>()
proves<Same<ReturnType<typeof client.votes.getAverage>, Promise<number>>>()
proves<Same<ReturnType<typeof client.twoFactor.verify>, Promise<{ url: string }>>>()
proves<
  Same<
    Parameters<typeof client.passwords.signUp>,
    [input: { email: string; password: string; name?: string; image?: string; callbackUrl?: string }]
  >
>()
proves<Same<Awaited<ReturnType<typeof client.getSession>>, Session | null>>()
proves<Same<NonNullable<Awaited<ReturnType<typeof client.getSession>>>['department'], string | undefined>>()

// @ts-expect-error a namespace that no plugin brings
void client.apiKeys
// @ts-expect-error a method that the plugin does not have
void client.votes.take
// @ts-expect-error an input of another type
void client.votes.give({ stars: 'five' })
// @ts-expect-error an input that is missing
void client.twoFactor.verify({})

export const said = (error: unknown): string | undefined => (error instanceof AuthClientError ? error.error : undefined)
