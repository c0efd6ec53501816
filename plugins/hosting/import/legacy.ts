/** The former service, asked for passwords that its export does not have: once per sign-in, until a hash is stored here. */
import { type AnyContext, type Kernel, sha256, toHex } from 'authkernel/kernel'
import type { LegacyAnswer, LegacyPasswords } from 'authkernel/plugins/passwords'
import type { ResolvedOptions } from './options.ts'

/** Provides the service that `passwordsPlugin` asks. */
export function addLegacyPasswords(kernel: Kernel, { legacyPassword, legacyTimeout }: ResolvedOptions): void {
  if (!legacyPassword) return
  const service: LegacyPasswords = {
    async check(ctx, { name, user, password }) {
      // A password of this user was stored here once: if it is gone, it was revoked, and the former one must not come back.
      if (user && (await ctx.records('legacyPassword').get(await rowId(user.id)))) return null
      const signal = AbortSignal.any([ctx.signal, AbortSignal.timeout(legacyTimeout)])
      return readAnswer(await untilAborted(Promise.resolve(legacyPassword({ name, password, user, signal, ctx })), signal))
    },
    stopAsking,
  }
  kernel.provide('legacyPasswords', service)
  // A password that was chosen here ends the one of the former service, also when it is removed later.
  kernel.on('credentialChanged', async ({ user, kind, ctx }) => {
    if (kind === 'password' && user?.id !== undefined) await stopAsking(ctx, user.id)
  })
}

async function stopAsking(ctx: AnyContext, userId: string): Promise<void> {
  await ctx.records('legacyPassword').put({ id: await rowId(userId), userId, at: ctx.now })
}

function readAnswer(answer: unknown): LegacyAnswer | null {
  if (answer === null || answer === undefined || answer === false) return null
  const { emailVerified, name, image } = Object(answer) as Partial<LegacyAnswer>
  // `true` alone says nothing of the address.
  if (typeof answer !== 'object') throw new TypeError('`legacyPassword` must return null, or an object with `emailVerified`.')
  return { emailVerified: emailVerified === true, name, image }
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new Error('`legacyPassword` did not answer in time.'))
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

async function rowId(userId: string): Promise<string> {
  return toHex(await sha256(userId))
}
