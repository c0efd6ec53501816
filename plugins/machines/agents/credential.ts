/** The credential of an agent: `agent_<id>_<secret>`. */
import { type AnyContext, equal, randomHex, sha256, toBase64Url, toHex } from 'authkernel/kernel'
import type { AgentRecord } from './tables.ts'

const pattern = /^agent_([0-9a-f]{32})_([\w-]{43})$/

/** A credential that was made just now, and what is stored of it. */
export interface NewCredential {
  text: string
  hash: string
  tail: string
}

/** A new id, which opens nothing. */
export function makeAgentId(ctx: AnyContext): string {
  return randomHex(ctx.runtime, 16)
}

/** A secret of 256 random bits, so that a fast hash is enough. */
export async function makeCredential(ctx: AnyContext, id: string): Promise<NewCredential> {
  const secret = toBase64Url(ctx.runtime.random(32))
  const text = `agent_${id}_${secret}`
  return { text, hash: await hashSecret(secret), tail: text.slice(-4) }
}

/** What `Authorization: Bearer` brings for this plugin: also a text that only begins like a credential, which must not lead to the cookie. */
export function readCredential(headers: Headers): string | undefined {
  const text = /^Bearer +(.*)$/is.exec(headers.get('authorization') ?? '')?.[1]?.trim()
  return text?.startsWith('agent_') ? text : undefined
}

/** The agent of a credential; null: unknown, or replaced. Whether the agent may come in is asked elsewhere. */
export async function findByCredential(ctx: AnyContext, text: string): Promise<AgentRecord | null> {
  const [, id, secret] = pattern.exec(text) ?? []
  const row = id === undefined ? null : await ctx.records('agent').get(id)
  if (!row || secret === undefined) return null
  const hash = await hashSecret(secret)
  const isFormer = row.formerHash !== null && row.formerUntil !== null && row.formerUntil > ctx.now && equal(row.formerHash, hash)
  return equal(row.hash, hash) || isFormer ? row : null
}

async function hashSecret(secret: string): Promise<string> {
  return toHex(await sha256(secret))
}
