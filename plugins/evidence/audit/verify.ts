/** Looks whether records are all there, in their order, and as they were written. */
import type { AnyContext } from 'authkernel/kernel'
import { isGenuine, isGenuineHead } from './chain.ts'
import { type AuditAnchor, type AuditHead, type AuditRecord, groupBy } from './record.ts'
import type { AuditLine } from './sink-lines.ts'

/** What was found. */
export interface AuditVerification {
  ok: boolean
  records: number
  chains: number
  /** One sentence each, with the id of the record. */
  faults: string[]
}

const day = 86_400_000
const maxFaults = 100

/** `retention`: days after which records may be gone. */
export async function verifyRecords(
  ctx: AnyContext,
  records: readonly AuditRecord[],
  heads: readonly (AuditHead & { seal: string })[],
  retention: number | undefined,
  anchors: readonly AuditAnchor[] = [],
): Promise<AuditVerification> {
  const faults: string[] = []
  const unchained = records.filter(({ chainId }) => !chainId)
  for (const { id, name } of unchained) faults.push(`record ${id} (${name}) belongs to no chain`)
  const chains = groupBy(
    records.filter(({ chainId }) => chainId),
    ({ chainId }) => chainId!,
  )
  const ends = new Map<string, AuditHead>()
  for (const head of heads) {
    if (!(await isGenuineHead(ctx, head))) faults.push(`the end of chain ${head.chainId} was changed`)
    else if ((ends.get(head.chainId)?.seq ?? -1) < head.seq) ends.set(head.chainId, head)
  }
  const oldest = retention === undefined ? -Infinity : ctx.runtime.now() - (retention - 1) * day
  for (const [chainId, list] of chains) faults.push(...(await faultsOf(ctx, chainId, list, ends.get(chainId), oldest)))
  for (const [chainId, { seq, time }] of ends) {
    if (!chains.has(chainId) && seq > 0 && time > oldest) faults.push(`all ${seq} records of chain ${chainId} are missing`)
  }
  for (const [index, anchor] of anchors.entries()) {
    if (!isAnchor(anchor)) {
      faults.push(`anchor ${index + 1} is none: it needs \`chainId\`, \`tenant\`, \`seq\`, \`mac\` and \`time\``)
      continue
    }
    const { chainId, seq, mac, time, tenant } = anchor
    if (tenant !== ctx.facts.namespace || time <= oldest) continue
    const found = chains.get(chainId)?.some((record) => record.seq === seq && record.mac === mac)
    if (!found && seq > 0) faults.push(`chain ${chainId} is not as it was anchored: record ${seq} is missing or another one`)
  }
  return { ok: faults.length === 0, records: records.length, chains: chains.size, faults: faults.slice(0, maxFaults) }
}

/** What is none must not count as one that fits. */
function isAnchor(value: unknown): value is AuditAnchor {
  const { chainId, tenant, seq, mac, time } = Object(value) as Partial<Record<keyof AuditAnchor, unknown>>
  const texts = [chainId, tenant, mac].every((one) => typeof one === 'string')
  return texts && Number.isSafeInteger(seq) && Number.isFinite(time)
}

async function faultsOf(
  ctx: AnyContext,
  chainId: string,
  given: readonly AuditRecord[],
  end: AuditHead | undefined,
  oldest: number,
): Promise<string[]> {
  const faults: string[] = []
  // A batch whose answer was lost may be there twice.
  const list = [...new Map(given.map((record) => [`${record.id} ${record.mac}`, record])).values()].sort(
    (a, b) => (a.seq ?? 0) - (b.seq ?? 0),
  )
  let before: AuditRecord | undefined
  for (const record of list) {
    const { id, seq = 0, name } = record
    const expected = before ? (before.seq ?? 0) + 1 : 1
    if (!(await isGenuine(ctx, record))) faults.push(`record ${id} (${name}, ${seq} of chain ${chainId}) was changed`)
    if (seq > expected && (before || record.time > oldest))
      faults.push(`${seq - expected} records are missing before ${id} (${seq} of chain ${chainId})`)
    else if (before && seq === expected && record.prev !== before.mac)
      faults.push(`record ${id} (${seq} of chain ${chainId}) does not follow ${before.id}`)
    else if (before && seq < expected) faults.push(`record ${id} has the place of ${before.id} (${seq} of chain ${chainId})`)
    before = record
  }
  const last = before?.seq ?? 0
  if (!end) faults.push(`the end of chain ${chainId} is missing`)
  else if (end.seq > last) faults.push(`${end.seq - last} records are missing at the end of chain ${chainId}, after ${before?.id}`)
  else if (end.final && end.seq < last) faults.push(`chain ${chainId} goes on after its end`)
  return faults
}

/** Records and ends of a file with one JSON object a line. */
export function parseLines(text: string): { records: AuditRecord[]; heads: (AuditHead & { seal: string })[]; broken: number } {
  const [records, heads]: [AuditRecord[], (AuditHead & { seal: string })[]] = [[], []]
  let broken = 0
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue
    try {
      const value = JSON.parse(line) as AuditLine
      if ('head' in value) heads.push(value.head)
      else records.push(value)
    } catch {
      broken++
    }
  }
  return { records, heads, broken }
}
