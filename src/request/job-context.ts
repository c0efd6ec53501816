/** Work without a request. */
import type { Facts, JobContext as Job } from '../contract/context.ts'
import type { SessionStrategy } from '../contract/session.ts'
import type { Settings } from '../contract/settings.ts'
import { randomUUID } from '../keys/crypto.ts'
import type { Compiled } from '../registry/snapshot.ts'
import { CommonContext } from './read-context.ts'
import { watchedStore } from './watched-store.ts'

export class JobContext extends CommonContext implements Job {
  declare readonly request: undefined
  declare readonly job: string
  declare readonly facts: Facts
  declare readonly signal: AbortSignal

  constructor(compiled: Compiled, settings: Settings, job: string, signal: AbortSignal = new AbortController().signal) {
    super()
    this.app = compiled.view
    this.compiled = compiled
    this.begun = compiled.moments.next()
    this.settings = settings
    this.runtime = compiled.config.runtime
    this.logger = compiled.config.logger
    this.services = compiled.scoped(settings.namespace)
    this.session = this.services.session as SessionStrategy
    this.job = job
    this.store = watchedStore(this)
    this.signal = signal
    this.facts = Object.freeze({
      requestId: randomUUID(this.runtime),
      address: undefined,
      userAgent: undefined,
      namespace: settings.namespace,
      at: this.runtime.now(),
      job,
    })
  }
}
