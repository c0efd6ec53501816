/** Decisions and events over hookable, which keeps and removes the handlers; the four verbs are here. */
import { HookableCore } from 'hookable'
import { within } from './deadline.ts'
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
  list(key: string): readonly Handler[] {
    return (this._hooks[key] ?? []) as unknown as readonly Handler[]
  }
}

/** Handlers of one compiled kernel. */
export class HookBus {
  /** `hook:name` and `on:name` of everything that somebody answers or listens to. */
  declare readonly known: Set<string>
  declare private readonly hooks: HandlerLists
  declare private readonly decisions: Map<string, DecisionSpec>
  /** Plugins of the handlers, in the same order. */
  declare private readonly owners: Map<string, string[]>

  constructor() {
    this.known = new Set()
    this.hooks = new HandlerLists()
    this.decisions = new Map(Object.entries(decisionSpecs))
    this.owners = new Map()
  }

  decision(name: string, spec: DecisionSpec): void {
    this.decisions.set(name, spec)
  }

  add(kind: 'hook' | 'on', name: string, handler: Handler, owner: string): void {
    const key = `${kind}:${name}`
    this.hooks.hook(key, handler as never)
    this.owners.set(key, [...(this.owners.get(key) ?? []), owner])
    this.known.add(key)
  }

  has(kind: 'hook' | 'on', name: string): boolean {
    return this.known.has(`${kind}:${name}`)
  }

  /** Decisions that are declared, by name. */
  specs(): ReadonlyMap<string, DecisionSpec> {
    return this.decisions
  }

  /** The answer to a decision, leaving out the handlers of plugin `skip`. Throws what a handler throws, and on an undeclared decision. */
  ask(name: string, message: Message, skip?: string): Awaitable<unknown> {
    const spec = this.decisions.get(name)
    if (!spec) throw new TypeError(`Nobody declared the decision "${name}": call kernel.decision("${name}", verb) in the plugin's setup.`)
    const key = `hook:${name}`
    const all = this.hooks.list(key)
    const handlers = skip === undefined ? all : all.filter((_, i) => this.owners.get(key)?.[i] !== skip)
    if (spec.verb === 'first') return first(handlers.toReversed(), message, 0)
    return spec.verb === 'guard' ? guard(handlers, message, 0) : pipe(handlers, message, spec.carry ?? name, 0)
  }

  /** Tells everybody, in order; failures go to `report` and break nothing. */
  emit(name: string, message: Message, report: (error: unknown) => void, deadline: number): Awaitable<void> {
    return this.known.has(`on:${name}`) ? tell(this.hooks.list(`on:${name}`), message, report, deadline) : undefined
  }
}

// All stay synchronous until a handler answers with a promise: a session read pays for no tick it does not need.

function guard(handlers: readonly Handler[], message: Message, from: number): Awaitable<boolean | string> {
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

function first(handlers: readonly Handler[], message: Message, from: number): unknown {
  for (let i = from; i < handlers.length; i++) {
    const answer = handlers[i]?.(message)
    if (isPromise(answer)) return answer.then((value) => (value === undefined ? first(handlers, message, i + 1) : value))
    if (answer !== undefined) return answer
  }
  return undefined
}

function pipe(handlers: readonly Handler[], message: Message, carry: string, from: number): unknown {
  let current = message
  for (let i = from; i < handlers.length; i++) {
    const answer = handlers[i]?.(current)
    if (answer === null) return null
    if (answer === undefined) continue
    if (typeof (answer as PromiseLike<unknown>).then === 'function') {
      const before = current
      return (answer as PromiseLike<unknown>).then((value) =>
        value === null ? null : pipe(handlers, value === undefined ? before : { ...before, [carry]: value }, carry, i + 1),
      )
    }
    current = { ...current, [carry]: answer }
  }
  return current[carry]
}

async function tell(handlers: readonly Handler[], message: Message, report: (error: unknown) => void, deadline: number): Promise<void> {
  for (const handler of handlers) {
    try {
      const done = handler(observed(message))
      // A listener that hangs must not hold a sign-in.
      if (isPromise(done)) await within(done, deadline, () => new Error(`an event handler did not finish within ${deadline} ms`))
    } catch (error) {
      report(error)
    }
  }
}

/** A copy of plain data: what a listener does to it reaches neither the flow nor the next listener (row 369). */
function observed<T>(value: T, seen: Map<unknown, unknown> = new Map()): T {
  if (typeof value !== 'object' || value === null) return value
  const prototype: unknown = Object.getPrototypeOf(value)
  // Errors, dates and objects of a class are told as they are.
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return value
  if (seen.has(value)) return seen.get(value) as T
  const copy = (Array.isArray(value) ? [] : Object.create(prototype as object | null)) as Record<string, unknown>
  seen.set(value, copy)
  for (const [key, item] of Object.entries(value)) copy[key] = observed(item, seen)
  return copy as T
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}
