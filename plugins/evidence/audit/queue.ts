/** Records that wait for the sink: bounded, in batches, and off the request. */
import type { AnyContext, LoggerInstance } from 'authkernel/kernel'
import type { AuditRecord } from './record.ts'

/** A record with a context of its tenant. */
export interface Waiting {
  record: AuditRecord
  ctx: AnyContext
  size: number
}
export interface QueueOptions {
  maxRecords: number
  maxBytes: number
  /** Records in a batch. */
  batch: number
  /** Milliseconds that a record waits at most for others. */
  pause: number
  /** Milliseconds until a batch counts as failed. */
  deadline: number
  logger: LoggerInstance
  /** Writes a batch; a rejection keeps it. */
  write(batch: readonly Waiting[]): Promise<void>
  /** A record that says how many were dropped. */
  recordDropped(count: number, ctx: AnyContext): Promise<AuditRecord>
}

const longestPause = 30_000

export class AuditQueue {
  readonly #options: QueueOptions
  readonly #waiting: Waiting[] = []
  #bytes = 0
  #dropped = 0
  #lost = 0
  #failures = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #running: Promise<void> | undefined

  constructor(options: QueueOptions) {
    this.#options = options
  }

  /** How many were dropped since the start, and how many wait. */
  get state(): { dropped: number; waiting: number; failing: boolean } {
    return { dropped: this.#lost, waiting: this.#waiting.length, failing: this.#failures > 0 }
  }

  /** Whether one more has room, when `making` are on their way; if not, it is counted as dropped. */
  admits(making: number): boolean {
    const { maxRecords, maxBytes } = this.#options
    if (this.#waiting.length + making < maxRecords && this.#bytes < maxBytes) return true
    this.#dropped++
    this.#lost++
    return false
  }

  /** Never fails, and never waits for the sink. */
  add(record: AuditRecord, ctx: AnyContext): void {
    const size = JSON.stringify(record).length
    const { batch, pause } = this.#options
    this.#waiting.push({ record, ctx, size })
    this.#bytes += size
    if (this.#waiting.length >= batch && this.#failures === 0) void this.#run()
    else this.#scheduleRun(pause)
  }

  /** Writes all that waits. Rejects when the sink does not take it before `deadline` milliseconds have passed. */
  async flush(): Promise<void> {
    await this.#run(true)
    if (this.#waiting.length > 0) throw new Error(`auditPlugin: ${this.#waiting.length} records could not be written.`)
  }

  #scheduleRun(pause: number): void {
    if (this.#timer !== undefined || this.#running) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      void this.#run()
    }, pause)
    // What waits is no reason to keep a process: `auth.close()` writes it.
    if (typeof this.#timer === 'object') this.#timer.unref?.()
  }

  /** One run at a time; `again`: a further one, for what came during this one. */
  async #run(again = false): Promise<void> {
    if (this.#running) {
      await this.#running
      if (!again) return
    }
    this.#running ??= this.#writeBatches().finally(() => (this.#running = undefined))
    await this.#running
  }

  async #writeBatches(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { batch, deadline, write, logger } = this.#options
    while (this.#waiting.length > 0) {
      await this.#tellDropped()
      const part = this.#waiting.slice(0, batch)
      try {
        await writeInTime(write(part), deadline)
      } catch (error) {
        if (this.#failures++ === 0) logger.error(error instanceof Error ? error : new Error(String(error)))
        const pause = Math.min(longestPause, 500 * 2 ** Math.min(this.#failures, 6))
        // After this run has ended.
        queueMicrotask(() => setTimeout(() => this.#scheduleRun(pause), 0).unref?.())
        return
      }
      this.#failures = 0
      this.#waiting.splice(0, part.length)
      this.#bytes -= part.reduce((sum, { size }) => sum + size, 0)
    }
  }

  async #tellDropped(): Promise<void> {
    const [count, last] = [this.#dropped, this.#waiting.at(-1)]
    if (count === 0 || !last || this.#failures > 0) return
    this.#dropped = 0
    const record = await this.#options.recordDropped(count, last.ctx)
    this.#waiting.push({ record, ctx: last.ctx, size: 0 })
  }
}

async function writeInTime(work: Promise<void>, deadline: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`auditPlugin: the sink did not take a batch within ${deadline} ms.`)), deadline)
  })
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
