/** Hooks and events over hookable: it keeps, removes and calls the handlers. The four verbs are callers. */
import { Hookable } from 'hookable'
import type { AnyContext, Facts } from '../contract/context.ts'
import type { Awaitable } from '../contract/data.ts'
import type { HookCall, Observer } from '../contract/observer.ts'
import type { Events } from '../contract/messages.ts'
import { unanswered } from '../contract/symbols.ts'
import { withTimeout } from '../errors/deadlines.ts'

/** What a hook does with several answers. */
export type Verb = 'guard' | 'first' | 'pipe'
/** A hook as the bus knows it; `carry` is the field that a pipe hands on. */
export interface HookSpec {
  verb: Verb
  carry?: string
}
type Message = Record<string, unknown>
type Handler = ((message: Message) => unknown) & { owner?: string; last?: boolean }
/** What an event is told with. */
export interface Telling {
  ctx: AnyContext
  report(error: unknown): void
  /** Milliseconds that one listener may take. */
  deadline: number
}

/** The built-in hooks; third parties declare theirs with `kernel.declareHook`. */
export const hookSpecs: Readonly<Record<string, HookSpec>> = {
  request: { verb: 'first' },
  settings: { verb: 'first' },
  tenant: { verb: 'first' },
  provider: { verb: 'first' },
  providers: { verb: 'pipe', carry: 'providers' },
  authorizationRequest: { verb: 'pipe', carry: 'parameters' },
  signIn: { verb: 'guard' },
  access: { verb: 'guard' },
  link: { verb: 'guard' },
  deleteUser: { verb: 'guard' },
  login: { verb: 'first' },
  authenticate: { verb: 'first' },
  redirect: { verb: 'first' },
  jwt: { verb: 'pipe', carry: 'token' },
  session: { verb: 'pipe', carry: 'session' },
  signOut: { verb: 'first' },
  proofLevel: { verb: 'first' },
  stepUp: { verb: 'first' },
  failure: { verb: 'first' },
}
/** The built-in events; third parties declare theirs with `kernel.declareEvent`. */
const ownEvents = [
  'createUser',
  'updateUser',
  'deleteUser',
  'linkAccount',
  'unlinkAccount',
  'session',
  'signIn',
  'signedIn',
  'signOut',
  'sessionsEnded',
  'accessEnded',
  'loginParked',
  'loginResumed',
  'signInFailed',
  'refused',
  'credentialChanged',
  'linkRequested',
  'cleanedUp',
  'noted',
  'configurationFault',
] as const satisfies readonly (keyof Events)[]
// Told on every session read: `on('*')` hears it only when it asks to.
const readEvent = 'session'

/** Handlers of one compiled kernel. */
export class HookBus {
  /** `hook:name` and `on:name` of every hook and event with a handler. */
  declare readonly known: Set<string>
  /** Events that may be listened to. */
  declare readonly events: Set<string>
  declare private readonly handlers: Hookable
  declare private readonly watchers: NonNullable<Observer['handler']>[]
  declare private readonly specByName: Map<string, HookSpec>

  constructor() {
    this.known = new Set()
    this.events = new Set(ownEvents)
    this.handlers = new Hookable()
    this.watchers = []
    this.specByName = new Map(Object.entries(hookSpecs))
  }

  declare(name: string, spec: HookSpec): void {
    this.specByName.set(name, spec)
  }

  /** `reads`: a handler of every event, `*`, also hears session reads. `last`: a handler of a `first` hook that is asked after all others. */
  add(
    kind: 'hook' | 'on',
    name: string,
    handler: (message: Message) => unknown,
    owner: string,
    { reads = false, last = false }: { reads?: boolean; last?: boolean } = {},
  ): void {
    const key = `${kind}:${name}`
    const keep = (place: string): void => {
      this.handlers.hook(place, Object.assign((message: Message) => handler(message), { owner, last }) as never)
      this.known.add(place)
    }
    keep(key)
    if (!reads || key !== 'on:*') return
    // Under a name of its own, since an event without a listener is not even created.
    keep('on:* reads')
    this.known.add(`on:${readEvent}`)
  }

  has(kind: 'hook' | 'on', name: string): boolean {
    return this.known.has(`${kind}:${name}`) || (kind === 'on' && name !== readEvent && this.known.has('on:*'))
  }

  /** From now on the observer sees every call. A bus without observers runs through nothing more. */
  observe({ hook: around, handler }: Observer): void {
    if (handler) this.watchers.push(handler)
    if (!around) return
    const ask = this.ask.bind(this)
    const emit = this.emit.bind(this)
    this.ask = (name, ...rest) =>
      this.has('hook', name) ? around({ kind: 'hook', name, ctx: rest[1] }, () => ask(name, ...rest)) : ask(name, ...rest)
    this.emit = (name, ...rest) =>
      this.has('on', name) ? around({ kind: 'event', name, ctx: rest[1].ctx }, () => emit(name, ...rest)) : undefined
  }

  /** Hooks that are declared, by name. */
  specs(): ReadonlyMap<string, HookSpec> {
    return this.specByName
  }

  /** The answer to a hook, leaving out the handlers of the plugins in `skip`. Throws what a handler throws, and on an undeclared hook. */
  ask(name: string, message: Message, ctx?: AnyContext, skip?: string | readonly string[]): Awaitable<unknown> {
    const spec = this.specByName.get(name)
    if (!spec) throw new TypeError(`No plugin declared the hook "${name}": call kernel.declareHook("${name}", verb) in the plugin's setup.`)
    if (!this.has('hook', name))
      return spec.verb === 'first' ? undefined : spec.verb === 'guard' || runPipe([], message, spec.carry ?? name, 0)
    const asked = ctx ? attachContext(message, ctx) : message
    const caller = (all: readonly Handler[]): unknown => {
      let handlers =
        skip === undefined ? all : all.filter(({ owner = '' }) => (typeof skip === 'string' ? owner !== skip : !skip.includes(owner)))
      for (const see of this.watchers) handlers = handlers.map((inner) => withObservers(see, inner, { kind: 'hook', name, ctx }))
      if (spec.verb === 'first') return runFirst(inOrder(handlers), asked, 0)
      return spec.verb === 'guard' ? runGuard(handlers, asked, 0) : runPipe(handlers, asked, spec.carry ?? name, 0)
    }
    // hookable's own types know callers of handlers without answers only.
    return this.handlers.callHookWith(caller as never, `hook:${name}`, [asked] as never)
  }

  /** Calls all listeners, in order; failures are reported and break nothing. Undefined without listeners. */
  emit(name: string, message: Message, telling: Telling): Promise<void> | undefined {
    if (!this.has('on', name)) return undefined
    const { facts } = telling.ctx
    const copy = (): Message => attachContext(copyForListeners(message), telling.ctx, facts)
    const toldTo = (key: string, each: () => Message): Promise<void> =>
      this.handlers.callHookWith(((all: readonly Handler[]) => runListeners(all, each, telling)) as never, key, [
        message,
      ] as never) as Promise<void>
    const everything = name === readEvent ? 'on:* reads' : 'on:*'
    const named = toldTo(`on:${name}`, copy)
    return this.known.has(everything) ? named.then(() => toldTo(everything, () => ({ event: name, message: copy() }))) : named
  }
}

function withObservers(see: NonNullable<Observer['handler']>, inner: Handler, call: HookCall & { kind: 'hook' }): Handler {
  const { owner = '' } = inner
  return Object.assign((message: Message) => see({ ...call, plugin: owner }, () => inner(message)), { owner, last: inner.last === true })
}

/** The last one that was added is asked first, but for those that are asked after all others. */
function inOrder(handlers: readonly Handler[]): readonly Handler[] {
  const reversed = handlers.toReversed()
  if (!reversed.some(({ last }) => last)) return reversed
  return [...reversed.filter(({ last }) => !last), ...reversed.filter(({ last }) => last)]
}

// All stay synchronous until a handler answers with a promise: a session read pays for no tick it does not need.

function runGuard(handlers: readonly Handler[], message: Message, from: number): Awaitable<boolean | string> {
  for (let i = from; i < handlers.length; i++) {
    const answer = handlers[i]?.(message)
    if (isPromise(answer)) return answer.then((value) => (value === true ? runGuard(handlers, message, i + 1) : toRefusal(value)))
    if (answer !== true) return toRefusal(answer)
  }
  return true
}

// A URL redirects; everything else is no.
function toRefusal(answer: unknown): boolean | string {
  return typeof answer === 'string' && answer !== '' ? answer : false
}

function runFirst(handlers: readonly Handler[], message: Message, from: number): unknown {
  for (let i = from; i < handlers.length; i++) {
    const answer = handlers[i]?.(message)
    if (isPromise(answer)) return answer.then((value) => (value === undefined ? runFirst(handlers, message, i + 1) : value))
    if (answer !== undefined) return answer
  }
  return undefined
}

function runPipe(handlers: readonly Handler[], message: Message, carry: string, from: number, answered = false): unknown {
  let current = message
  let said = answered
  for (let i = from; i < handlers.length; i++) {
    const answer = handlers[i]?.(current)
    if (answer === null) return null
    if (answer === undefined) continue
    const { ctx } = current
    if (typeof (answer as PromiseLike<unknown>).then === 'function') {
      const before = current
      const saidBefore = said
      return (answer as PromiseLike<unknown>).then((value) => {
        if (value === null) return null
        if (value === undefined) return runPipe(handlers, before, carry, i + 1, saidBefore)
        return runPipe(handlers, attachContext({ ...before, [carry]: value }, ctx as AnyContext | undefined), carry, i + 1, true)
      })
    }
    // The context goes with the copy.
    current = attachContext({ ...current, [carry]: answer }, ctx as AnyContext | undefined)
    said = true
  }
  return !said && unanswered in message ? message[unanswered as never] : current[carry]
}

async function runListeners(handlers: readonly Handler[], message: () => Message, { report, deadline }: Telling): Promise<void> {
  for (const handler of handlers) {
    try {
      const done = handler(message())
      // A listener that hangs must not hold a sign-in.
      if (isPromise(done)) await withTimeout(done, deadline, () => new Error(`an event handler did not finish within ${deadline} ms`))
    } catch (error) {
      report(error)
    }
  }
}

/** Not enumerable: JSON, copies and comparisons see the fields that hosts of Auth.js know. */
function attachContext(message: Message, ctx: AnyContext | undefined, facts?: Facts): Message {
  if (!ctx) return message
  const target = Object.isExtensible(message) ? message : { ...message }
  if (!Object.prototype.propertyIsEnumerable.call(target, 'ctx')) Object.defineProperty(target, 'ctx', { value: ctx, configurable: true })
  if (facts) Object.defineProperty(target, 'facts', { value: facts, configurable: true })
  return target
}

/** A copy of plain data: what a listener does to it reaches neither the flow nor the next listener (row 369). */
function copyForListeners<T>(value: T, seen: Map<unknown, unknown> = new Map()): T {
  if (typeof value !== 'object' || value === null) return value
  const prototype: unknown = Object.getPrototypeOf(value)
  // Errors, dates and objects of a class are told as they are.
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return value
  if (seen.has(value)) return seen.get(value) as T
  const copy = (Array.isArray(value) ? [] : Object.create(prototype as object | null)) as Record<string, unknown>
  seen.set(value, copy)
  for (const [key, item] of Object.entries(value)) copy[key] = copyForListeners(item, seen)
  return copy as T
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}
