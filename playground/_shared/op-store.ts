/** Storage of the playground's provider, in memory: it forgets all users when it ends. */

type Payload = Record<string, unknown> & { uid?: string; grantId?: string; consumed?: number }
interface Row {
  payload: Payload
  /** Milliseconds since the epoch. */
  ends: number
}

const rows = new Map<string, Row>()

/** The adapter interface of `oidc-provider` 8; one instance per kind of record. */
export class OPStore {
  readonly kind: string
  constructor(kind: string) {
    this.kind = kind
  }

  async upsert(id: string, payload: Payload, seconds?: number): Promise<void> {
    rows.set(this.key(id), { payload, ends: seconds === undefined ? Infinity : Date.now() + seconds * 1_000 })
  }

  async find(id: string): Promise<Payload | undefined> {
    const row = rows.get(this.key(id))
    return row && row.ends > Date.now() ? row.payload : undefined
  }

  async findByUid(uid: string): Promise<Payload | undefined> {
    return this.all().find(([, { payload }]) => payload.uid === uid)?.[1].payload
  }

  async findByUserCode(): Promise<undefined> {
    return undefined
  }

  async consume(id: string): Promise<void> {
    const payload = await this.find(id)
    if (payload) payload.consumed = Math.floor(Date.now() / 1_000)
  }

  async destroy(id: string): Promise<void> {
    rows.delete(this.key(id))
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const [key, { payload }] of this.all()) if (payload.grantId === grantId) rows.delete(key)
  }

  private key(id: string): string {
    return `${this.kind}:${id}`
  }

  private all(): [string, Row][] {
    return [...rows].filter(([key]) => key.startsWith(`${this.kind}:`))
  }
}
