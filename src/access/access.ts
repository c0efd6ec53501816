/** `ctx.access`: one gate for everything that gives access, and one ending (docs/architecture.md). */
import type { Access, AccessProof, AccessPurpose, StampOfAccess } from '../contract/access.ts'
import type { AnyContext, Context } from '../contract/context.ts'
import type { User } from '../contract/data.ts'
import { AccessDenied, AuthError, type ErrorRow } from '../errors/index.ts'
import type { KernelContext } from '../registry/snapshot.ts'
import { isAfter } from '../runtime/shared.ts'
import { assertEndable, endAll } from './end.ts'
import { undoGrant } from './undo.ts'
import { endingKey, lastEnding, memberKey, proofKeys, raiseEnding } from './endings.ts'
import { accessRecordName } from './tables.ts'

/**
 * Access ended after a sign-in, a link or an approval began: by a sign-out everywhere, a new password, a ban, a logout at the provider. Signing in again
 * works, unless a hook rejects it.
 */
export class AccessEnded extends AuthError {
  static override type = 'AccessEnded'
  static override row: ErrorRow = { page: 'signIn', status: 401, visible: true }
}

/** Endings of one subject by one request, with no ending of another request between them. */
interface OwnEndings {
  /** Generations that stamps from before these endings have. */
  readonly before: Set<number>
  after: number
}

// Five minutes, as numbers of moments: longer than any ending takes.
const endingTime = 300_000_000

/** What a request or job may be given, and what it ends itself. */
export function createAccess(ctx: AnyContext): Access {
  const { begun, compiled } = ctx as KernelContext
  // What this request ends itself makes none of its own logins void.
  const own = new Map<string, OwnEndings>()
  const known = new Map<string, Promise<number>>()
  const ofSession = new WeakSet<StampOfAccess>()

  function generationOf(subject: string): Promise<number> {
    const endings = own.get(subject)
    if (endings) return Promise.resolve(endings.after)
    const reading = known.get(subject) ?? readGeneration(subject)
    known.set(subject, reading)
    return reading
  }

  async function readGeneration(subject: string): Promise<number> {
    const last = await lastEnding(ctx, subject)
    if (last && isAfter(last, { at: begun, process: compiled.moments.process }))
      throw accessEnded('The access of the user ended meanwhile.')
    return last?.at ?? 0
  }

  async function stamp(subject: string, proofs: readonly AccessProof[] = []): Promise<StampOfAccess> {
    const compared = areProofsCompared(ctx) ? proofs : []
    return { subject, generation: await generationOf(subject), at: begun, process: compiled.moments.process, proofs: compared }
  }

  async function stampSession(given?: User): Promise<StampOfAccess | null> {
    if (!ctx.request) throw new TypeError('A job has no session: stamp the user with `ctx.access.stamp`.')
    const request = ctx as Context
    const user = given ?? (await request.session.user(request))
    if (!user) return null
    const attributes = areProofsCompared(ctx) ? await request.session.attributes?.(request) : null
    const proofs = attributes ? [{ provider: attributes.provider, sub: attributes.sub, sid: attributes.sid, at: attributes.started }] : []
    const sessionStamp = await stamp(`user:${user.id}`, proofs)
    ofSession.add(sessionStamp)
    return sessionStamp
  }

  async function allows(userId: string, by: AccessPurpose): Promise<boolean> {
    return !ctx.has('hook', 'access') || (await ctx.ask('access', { userId, by })) === true
  }

  async function askHook({ subject }: StampOfAccess, by: AccessPurpose): Promise<void> {
    if (!subject.startsWith('user:') || (await allows(subject.slice('user:'.length), by))) return
    throw new AccessDenied(`The hook \`access\` rejected the user (${by}).`, { cause: { by } })
  }

  /** Whether no other request ended what a stamp says since it was taken. */
  function isCurrent(key: string, generation: number, last: number): boolean {
    const mine = own.get(key)
    return last === generation || (mine?.before.has(generation) === true && mine.after === last)
  }

  async function compare(given: StampOfAccess, by: AccessPurpose): Promise<void> {
    const { subject, generation } = given
    const last = (await lastEnding(ctx, subject))?.at ?? 0
    if (!isCurrent(subject, generation, last)) throw accessEnded('The access of the user ended after the sign-in began.')
    for (const membership of given.memberships ?? []) {
      const key = memberKey({ organizationId: membership.organizationId, userId: userOf(given) })
      const ending = (await lastEnding(ctx, key))?.at ?? 0
      if (!isCurrent(key, membership.generation, ending)) throw accessEnded('The membership ended after the request for access began.')
    }
    const found = await Promise.all(
      given.proofs.flatMap((proof) => proofKeys(proof).map(async (key) => ({ proof, key, last: await lastEnding(ctx, key) }))),
    )
    for (const { proof, key, last: ending } of found) {
      if (!ending || own.has(key)) continue
      // What a session rests on began with the session: endings of the same millisecond reach it, as they reach the session.
      const began = proof.at === undefined ? given : { at: proof.at * 1000 - 1, process: '' }
      if (isAfter(ending, began)) throw accessEnded(`The session at provider "${proof.provider}" ended after the sign-in began.`)
    }
    // An ending that is under way has raised the number and may still have to end the session. A link asks no more than Auth.js where there is none.
    const isEnding = begun - last < endingTime
    if (
      ofSession.has(given) &&
      compiled.records.has(accessRecordName) &&
      (by !== 'link' || isEnding) &&
      !(await isSessionLive(ctx as Context))
    )
      throw accessEnded('The session of the request has ended.')
  }

  return {
    stamp,
    stampSession,
    allows,
    async stampMember(given, organizationId) {
      const generation = await generationOf(memberKey({ organizationId, userId: userOf(given) }))
      const bound = { ...given, memberships: [...(given.memberships ?? []), { organizationId, generation }] }
      if (ofSession.has(given)) ofSession.add(bound)
      return bound
    },
    restamp(given) {
      const mine = own.get(given.subject)
      return mine?.before.has(given.generation) ? { ...given, generation: mine.after } : given
    },
    async assert(given, by) {
      await askHook(given, by)
      await compare(given, by)
    },
    async grant(given, by, write, takeBack) {
      await askHook(given, by)
      const { written, failure } = await tryWrite(write)
      try {
        await compare(given, by)
      } catch (error) {
        await undoGrant(ctx, given, by, () => takeBack(written))
        // A store that fails twice is told as it failed first.
        throw failure && !(error instanceof AccessEnded) ? failure.error : error
      }
      if (failure) throw failure.error
      return written as Awaited<ReturnType<typeof write>>
    },
    async end(which, options) {
      // Before the generation is raised: a request that cannot end sessions must not make sign-ins under way void.
      assertEndable(ctx, which, options)
      const key = endingKey(which)
      const raised = await raiseEnding(ctx, key, 'provider' in which ? (which.until ?? ctx.runtime.now()) : undefined)
      const mine = own.get(key)
      if (mine?.after === raised.before) {
        mine.before.add(raised.before)
        mine.after = raised.after
      } else own.set(key, { before: new Set([raised.before]), after: raised.after })
      return endAll(ctx, which, options)
    },
  }
}

// A store may write and lose its answer: what a failed write left must not outlive an ending either.
async function tryWrite<T>(write: () => Promise<T>): Promise<{ written?: T; failure?: { error: unknown } }> {
  try {
    return { written: await write() }
  } catch (error) {
    return { failure: { error } }
  }
}

async function isSessionLive(ctx: Context): Promise<boolean> {
  return (await ctx.session.isLive?.(ctx)) ?? true
}

/** Whether anything here ends sessions by what the provider calls them: else no ending could name a proof. */
function areProofsCompared(ctx: AnyContext): boolean {
  return (ctx as KernelContext).compiled.required.has('session:revoke:attribute')
}

/** Id of the user of a stamp. */
function userOf({ subject }: StampOfAccess): string {
  if (!subject.startsWith('user:')) throw new TypeError('Only a stored user is a member of an organization: stamp `user:<id>`.')
  return subject.slice('user:'.length)
}

function accessEnded(message: string): AccessEnded {
  return new AccessEnded(`${message} Sign in again.`)
}
