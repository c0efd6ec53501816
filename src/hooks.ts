/** Decisions and events over hookable, which keeps and removes the handlers; the four verbs are here. */
import { HookableCore } from 'hookable'
import type { Awaitable } from './types.ts'

/** What a decision does with several answers. */
export type Verb = 'guard' | 'first' | 'pipe'
/** A decision as the bus knows it; `carry` is the field that a pipe hands on. */
export interface DecisionSpec {
  verb: Verb
  carry?: string
}
type Message = Record<string, unknown>
type Handler = (message: Message) => unknown
type Owned = Handler & { owner: string }

/** The built-in decisions; third parties declare theirs with `kernel.decision`. */
export const decisionSpecs: Readonly<Record<string, DecisionSpec>> = {
  request: { verb: 'first' },
  settings: { verb: 'first' },
  provider: { verb: 'first' },
  providers: { verb: 'pipe', carry: 'providers' },
  signIn: { verb: 'guard' },
  link: { verb: 'guard' },
  login: { verb: 'first' },
  authenticate: { verb: 'first' },
  redirect: { verb: 'first' },
  jwt: { verb: 'pipe', carry: 'token' },
  session: { verb: 'pipe', carry: 'session' },
  signOut: { verb: 'first' },
  failure: { verb: 'first' },
}

/** hookable keeps the handlers; only its subclass may ask for the list, which decisions need for their answers. */
class HandlerLists extends HookableCore {
  list(key: string): readonly Owned[] {
    return (this._hooks[key] ?? []) as unknown as readonly Owned[]
  }
}

/** Handlers of one compiled kernel. */
export class HookBus {
  readonly #hooks: HandlerLists = new HandlerLists()
  readonly #specs: Map<string, DecisionSpec> = new Map(Object.entries(decisionSpecs))
  readonly #known: Set<string> = new Set()

  decision(name: string, spec: DecisionSpec): void {
    this.#specs.set(name, spec)
  }

  add(kind: 'hook' | 'on', name: string, handler: Handler, owner: string): void {
    // A function of its own per registration: two plugins may share one handler.
    const owned: Owned = Object.assign((message: Message) => handler(message), { owner })
    this.#hooks.hook(`${kind}:${name}`, owned as never)
    this.#known.add(`${kind}:${name}`)
  }

  has(kind: 'hook' | 'on', name: string): boolean {
    return this.#known.has(`${kind}:${name}`)
  }

  /** Decisions that are declared, by name. */
  specs(): ReadonlyMap<string, DecisionSpec> {
    return this.#specs
  }

  /** The answer to a decision. Throws what a handler throws, and on an undeclared decision. */
  ask(name: string, message: Message, skip?: string): Awaitable<unknown> {
    const spec = this.#specs.get(name)
    if (!spec) throw new TypeError(`Nobody declared the decision "${name}": call kernel.decision("${name}", verb) in the plugin's setup.`)
    const handlers = this.#handlers('hook', name, skip)
    if (spec.verb === 'first') return first(handlers.toReversed(), message, 0)
    return spec.verb === 'guard' ? guard(handlers, message, 0) : pipe(handlers, message, spec.carry ?? name, 0)
  }

  /** Tells everybody, in order; failures go to `report` and break nothing. */
  emit(name: string, message: Message, report: (error: unknown) => void, deadline: number): Awaitable<void> {
    if (!this.has('on', name)) return
    return tell(this.#handlers('on', name), message, report, deadline)
  }

  #handlers(kind: 'hook' | 'on', name: string, skip?: string): Handler[] {
    if (!this.has(kind, name)) return []
    const list = [...this.#hooks.list(`${kind}:${name}`)]
    return skip === undefined ? list : list.filter((handler) => handler.owner !== skip)
  }
}

// All stay synchronous until a handler answers with a promise: a session read pays for no tick it does not need.

function guard(handlers: Handler[], message: Message, from: number): Awaitable<boolean | string> {
  for (let i = from; i < handlers.length; i++) {
    const answer = handlers[i]?.(message)
    if (isPromise(answer)) return answer.then((value) => (value === true ? guard(handlers, message, i + 1) : refusal(value)))
    if (answer !== true) return refusal(answer)
  }
  return true
}

// A URL redirects; everything else is no.
function refusal(answer: unknown): boolean | string {
  return typeof answer === 'string' && answer !== '' ? answer : false
}

function first(handlers: Handler[], message: Message, from: number): unknown {
  for (let i = from; i < handlers.length; i++) {
    const answer = handlers[i]?.(message)
    if (isPromise(answer)) return answer.then((value) => (value === undefined ? first(handlers, message, i + 1) : value))
    if (answer !== undefined) return answer
  }
  return undefined
}

function pipe(handlers: Handler[], message: Message, carry: string, from: number): unknown {
  let current = message
  for (let i = from; i < handlers.length; i++) {
    const answer = handlers[i]?.(current)
    if (isPromise(answer)) {
      return answer.then((value) => (value === null ? null : pipe(handlers, handOn(current, carry, value), carry, i + 1)))
    }
    if (answer === null) return null
    current = handOn(current, carry, answer)
  }
  return current[carry]
}

function handOn(message: Message, carry: string, value: unknown): Message {
  return value === undefined ? message : { ...message, [carry]: value }
}

async function tell(handlers: Handler[], message: Message, report: (error: unknown) => void, deadline: number): Promise<void> {
  for (const handler of handlers) {
    try {
      const done = handler(message)
      if (isPromise(done)) await within(done, deadline)
    } catch (error) {
      report(error)
    }
  }
}

/** A listener that hangs must not hold a sign-in. */
async function within(work: PromiseLike<unknown>, deadline: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`an event handler did not finish within ${deadline} ms`)), deadline)
  })
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}
