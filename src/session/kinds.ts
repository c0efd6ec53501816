/** Kinds of sessions: what a session is beside an ordinary one. The session says it itself, so a lost side row never makes it an ordinary one. */
import type { AnyContext } from '../contract/context.ts'
import type { SessionAttributes } from '../contract/session.ts'
import { setBounded } from '../runtime/shared.ts'

/** What a session says of itself, wherever its strategy keeps it. */
export type SessionMarks = Pick<SessionAttributes, 'kinds' | 'until'>

const maxWarnings = 1_000

/**
 * Whether a session with these marks counts now: each of its kinds is declared by a plugin that is here, and its fixed end is not reached. For
 * session strategies with the ability `kinds`; a kind that is not declared is logged once.
 */
export function marksHold(ctx: AnyContext, { kinds, until }: SessionMarks): boolean {
  if (until !== undefined && !(ctx.runtime.now() < until)) return false
  if (kinds === undefined) return true
  // Whatever this is, no plugin answers for it.
  if (!Array.isArray(kinds)) return false
  for (const kind of kinds as readonly string[]) {
    if (ctx.app.sessionKinds.has(kind)) continue
    warnOnce(ctx, kind, {
      kind,
      reason: 'No plugin that is in use declares this kind of session. Use the plugin again, or let the sessions expire.',
    })
    return false
  }
  return true
}

/** Attributes of a session that is also of the kind. */
export function withKind(attributes: SessionAttributes, kind: string): SessionAttributes {
  const { kinds = [] } = attributes
  return kinds.includes(kind) ? attributes : { ...attributes, kinds: [...kinds, kind] }
}

/** Logs, once for each session, that the row which guards a session of a kind is missing. The plugin of the kind then treats the request as signed out. */
export function reportUnguarded(ctx: AnyContext, kind: string, sessionId: string): void {
  const reason = 'The record that guards this session is missing: it ended, or was lost. The session counts as signed out.'
  warnOnce(ctx, `${kind} ${sessionId}`, { kind, sessionId, reason })
}

function warnOnce(ctx: AnyContext, about: string, details: object): void {
  const warnings = ctx.app.shared.cache<true>('session kinds')
  if (warnings.has(about)) return
  setBounded(warnings, about, true, maxWarnings)
  ctx.logger.warn('session-not-guarded', details)
}
