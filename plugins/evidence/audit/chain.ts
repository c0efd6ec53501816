/** Records that hold on to each other: one that was changed, taken out or moved breaks the chain behind it. */
import { type AnyContext, equal, randomUUID } from 'authkernel/kernel'
import type { AuditHead, AuditRecord } from './record.ts'

/** A chain of one process, start and tenant. */
export class AuditChain {
  readonly #chainId: string
  readonly #tenant: string
  #seq = 0
  #mac = ''
  // One after the other: each holds on to the one before.
  #last: Promise<unknown> = Promise.resolve()

  constructor(ctx: AnyContext) {
    this.#chainId = randomUUID(ctx.runtime)
    this.#tenant = ctx.facts.namespace
  }

  /** The record with its place and MACs. */
  link(ctx: AnyContext, record: AuditRecord): Promise<AuditRecord> {
    const linked = this.#last.then(() => this.#link(ctx, record))
    this.#last = linked.catch(() => {})
    return linked
  }

  async #link(ctx: AnyContext, record: AuditRecord): Promise<AuditRecord> {
    const placed = { ...record, chainId: this.#chainId, seq: this.#seq + 1, prev: this.#mac }
    const mac = await macOf(ctx, placed, 0)
    this.#seq++
    this.#mac = mac
    return { ...placed, mac }
  }

  /** The end as it is after a record that was written. */
  headAt(ctx: AnyContext, { seq = 0, mac = '' }: AuditRecord): Promise<AuditHead & { seal: string }> {
    return this.#head(ctx, seq, mac, false)
  }
  /** The end for good. */
  end(ctx: AnyContext): Promise<AuditHead & { seal: string }> {
    return this.#head(ctx, this.#seq, this.#mac, true)
  }
  async #head(ctx: AnyContext, seq: number, mac: string, final: boolean): Promise<AuditHead & { seal: string }> {
    const head = { chainId: this.#chainId, seq, mac, tenant: this.#tenant, time: ctx.runtime.now(), final }
    return { ...head, seal: await sealOf(ctx, head, 0) }
  }
}

/** What stands instead of a personal value that was erased, and what the chain covers of one that was not. */
async function eraseValue(ctx: AnyContext, value: string, secret: number): Promise<string> {
  // What was erased before stays.
  return /^~[\da-f]{64}$/.test(value) ? value : `~${await digestWith(ctx, 'audit-personal', value, secret)}`
}

/** Whether the MAC of a record is right, under any secret of the list. */
export async function isGenuine(ctx: AnyContext, record: AuditRecord): Promise<boolean> {
  return (await secretIndex(ctx, record)) !== undefined
}
export async function isGenuineHead(ctx: AnyContext, { seal, ...head }: AuditHead & { seal: string }): Promise<boolean> {
  return (await findSecret(ctx, seal, (secret) => sealOf(ctx, head, secret))) !== undefined
}

/** A record without personal data, whose MAC stays right. */
export async function anonymizeRecord(ctx: AnyContext, record: AuditRecord): Promise<AuditRecord> {
  return withoutPersonalData(ctx, record, (await secretIndex(ctx, record)) ?? 0)
}

/** Place of the secret that a record was linked under. */
function secretIndex(ctx: AnyContext, record: AuditRecord): Promise<number | undefined> {
  return findSecret(ctx, record.mac, (secret) => macOf(ctx, record, secret))
}

async function findSecret(ctx: AnyContext, given: unknown, make: (secret: number) => Promise<string>): Promise<number | undefined> {
  if (typeof given !== 'string') return undefined
  for (let secret = 0; secret < ctx.settings.secret.length; secret++) if (equal(given, await make(secret))) return secret
  return undefined
}

async function withoutPersonalData(ctx: AnyContext, record: AuditRecord, secret: number): Promise<AuditRecord> {
  const { actor, subject, address, userAgent, sessionId } = record
  return {
    ...record,
    actor: {
      ...actor,
      ...(actor.id !== undefined && { id: await eraseValue(ctx, actor.id, secret) }),
      ...(actor.impersonator !== undefined && { impersonator: await eraseValue(ctx, actor.impersonator, secret) }),
    },
    ...(subject && { subject: { ...subject, ...(subject.id !== undefined && { id: await eraseValue(ctx, subject.id, secret) }) } }),
    // Without sessions in a store it may be the user's id.
    ...(sessionId !== undefined && { sessionId: await eraseValue(ctx, sessionId, secret) }),
    ...(address !== undefined && { address: await eraseValue(ctx, address, secret) }),
    ...(userAgent !== undefined && { userAgent: await eraseValue(ctx, userAgent, secret) }),
  }
}

async function macOf(ctx: AnyContext, record: AuditRecord, secret: number): Promise<string> {
  const { mac: _mac, ...covered } = await withoutPersonalData(ctx, record, secret)
  return digestWith(ctx, 'audit-chain', toCanonicalText(covered), secret)
}
function sealOf(ctx: AnyContext, { chainId, seq, mac, tenant, time, final }: AuditHead, secret: number): Promise<string> {
  return digestWith(ctx, 'audit-head', toCanonicalText({ chainId, seq, mac, tenant, time, final }), secret)
}

function digestWith(ctx: AnyContext, purpose: string, value: string, secret: number): Promise<string> {
  return ctx.digest(purpose, value, ctx.settings.secret[secret])
}

// The same text whatever order a database gives the fields back in.
function toCanonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toCanonicalText).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => `${JSON.stringify(key)}:${toCanonicalText(inner)}`)
    .join()}}`
}
