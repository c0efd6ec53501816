/** Hooks and events over hookable: it keeps, removes and calls the handlers. The four verbs are callers. */
import { Hookable } from 'hookable'
import type { AnyContext, Facts } from '../contract/context.ts'
import type { HookCall, Observer } from '../contract/observer.ts'
import type { Events } from '../contract/messages.ts'
import { noAnswer } from '../contract/symbols.ts'
import { withTimeout } from '../errors/deadlines.ts'
import { orderHandlers, type PlacedHandler } from './handler-order.ts'

/** What a hook does with several answers. */
export type Verb = 'guard' | 'first' | 'pipe'
/** A hook as the bus knows it; `carry` is the field that a pipe hands on. */
export interface HookSpec {
  verb: Verb
  carry?: string
}
type Message = Record<string, unknown>
type Handler = ((message: Message) => unknown) & PlacedHandler & { last?: boolean }
/** What listeners run with. */
export interface ListenerRun {
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
  tenants: { verb: 'first' },
  provider: { verb: 'first' },
  providers: { verb: 'pipe', carry: 'providers' },
  homeRealm: { verb: 'first' },
  authorizationRequest: { verb: 'pipe', carry: 'parameters' },
  signIn: { verb: 'guard' },
  createUser: { verb: 'guard' },
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
  response: { verb: 'first' },
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
  'tenantCleanedUp',
  'noted',
  'configurationFault',
] as const satisfies readonly (keyof Events)[]
// Told on every session read: `on('*')` hears it only when it asks to.
const readEvent = 'session'

/** Handlers of one compiled kernel. */
export class HookBus {
  /** Events that may be listened to. */
  readonly events: Set<string> = new Set(ownEvents)
  private readonly handlers = new Hookable()
  /** Handlers with a wish for their place are few: only where there is one the order is made again. */
  private readonly placed: Map<string, { handler: Handler; remove: () => void }[]> = new Map()
  private readonly watchers: NonNullable<Observer['handler']>[] = []
  /** Names of every hook and event with a handler. */
  private readonly handled = { hook: new Set<string>(), on: new Set<string>() }
  private readonly specByName: Map<string, HookSpec> = new Map(Object.entries(hookSpecs))

  declare(name: string, spec: HookSpec): void {
    this.specByName.set(name, spec)
  }

  /** `reads`: a handler of every event, `*`, also hears session reads. `last`: a handler of a `first` hook that is asked after all others. */
  add(
    kind: 'hook' | 'on',
    name: string,
    handler: (message: Message) => unknown,
    owner: string,
    { reads = false, last = false, before, after }: Pick<PlacedHandler, 'before' | 'after'> & { reads?: boolean; last?: boolean } = {},
  ): void {
    const keep = (place: string): void => {
      this.place(
        `${kind}:${place}`,
        Object.assign((message: Message) => handler(message), { owner, last, before, after }),
      )
      this.handled[kind].add(place)
    }
    keep(name)
    if (!reads || kind !== 'on' || name !== '*') return
    // Under a name of its own, since an event without a listener is not even created.
    keep('* reads')
    this.handled.on.add(readEvent)
  }

  /** Puts handlers into the order that they ask for by `before` and `after`, once all are there. Throws AuthError for a circle. */
  arrange(): void {
    for (const [key, placed] of this.placed) {
      const handlers = placed.map(({ handler }) => handler)
      if (handlers.every(({ before, after }) => before === undefined && after === undefined)) continue
      const [kind, name = ''] = key.split(/:(.*)/s)
      const isFirst = kind === 'hook' && this.specByName.get(name)?.verb === 'first'
      const ordered = orderHandlers(`the ${kind === 'hook' ? 'hook' : 'event'} "${name}"`, isFirst ? inOrder(handlers) : handlers)
      for (const { remove } of placed.splice(0)) remove()
      // The last one of a `first` hook is asked first; those that came after all others stand in their places now.
      for (const handler of isFirst ? ordered.toReversed() : ordered) this.place(key, Object.assign(handler, { last: false }))
    }
  }

  private place(key: string, handler: Handler): void {
    const placed = this.placed.get(key) ?? []
    // hookable's own types know no names that come later.
    placed.push({ handler, remove: this.handlers.hook(key, handler as never) })
    this.placed.set(key, placed)
  }

  /** Whether there is a handler. `on('*')` hears session reads only when it says so. */
  has(kind: 'hook' | 'on', name: string): boolean {
    const names = this.handled[kind]
    return names.has(name) || (kind === 'on' && name !== readEvent && names.has('*'))
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
  async ask(name: string, message: Message, ctx?: AnyContext, skip?: string | readonly string[]): Promise<unknown> {
    const spec = this.specByName.get(name)
    if (!spec) throw new TypeError(`No plugin declared the hook "${name}": call kernel.declareHook("${name}", verb) in the plugin's setup.`)
    if (!this.has('hook', name))
      return spec.verb === 'first' ? undefined : spec.verb === 'guard' || runPipe([], message, spec.carry ?? name)
    const input = ctx ? attachContext(message, ctx) : message
    const caller = (all: readonly Handler[]): Promise<unknown> => {
      let handlers =
        skip === undefined ? all : all.filter(({ owner = '' }) => (typeof skip === 'string' ? owner !== skip : !skip.includes(owner)))
      for (const see of this.watchers) handlers = handlers.map((inner) => withObservers(see, inner, { kind: 'hook', name, ctx }))
      if (spec.verb === 'first') return runFirst(inOrder(handlers), input)
      return spec.verb === 'guard' ? runGuard(handlers, input) : runPipe(handlers, input, spec.carry ?? name)
    }
    // hookable's own types know callers of handlers without answers only.
    return this.handlers.callHookWith(caller as never, `hook:${name}`, [input] as never)
  }

  /** Calls all listeners, in order; failures are reported and break nothing. Undefined without listeners. */
  emit(name: string, message: Message, run: ListenerRun): Promise<void> | undefined {
    if (!this.has('on', name)) return undefined
    const { facts } = run.ctx
    const copy = (): Message => attachContext(copyForListeners(message), run.ctx, facts)
    const callListeners = (key: string, each: () => Message): Promise<void> =>
      // As in `ask`.
      this.handlers.callHookWith(((all: Handler[]) => runListeners(all, each, run)) as never, key, [message] as never) as Promise<void>
    const everything = name === readEvent ? '* reads' : '*'
    const named = callListeners(`on:${name}`, copy)
    return this.handled.on.has(everything)
      ? named.then(() => callListeners(`on:${everything}`, () => ({ event: name, message: copy() })))
      : named
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

async function runGuard(handlers: readonly Handler[], message: Message): Promise<boolean | string> {
  for (const handler of handlers) {
    const answer = await handler(message)
    // A URL redirects; everything else but true is no.
    if (answer !== true) return typeof answer === 'string' && answer !== '' ? answer : false
  }
  return true
}

async function runFirst(handlers: readonly Handler[], message: Message): Promise<unknown> {
  for (const handler of handlers) {
    const answer = await handler(message)
    if (answer !== undefined) return answer
  }
  return undefined
}

async function runPipe(handlers: readonly Handler[], message: Message, carry: string): Promise<unknown> {
  let current = message
  let isAnswered = false
  for (const handler of handlers) {
    const answer = await handler(current)
    if (answer === null) return null
    if (answer === undefined) continue
    // The context goes with the copy.
    current = attachContext({ ...current, [carry]: answer }, current['ctx'] as AnyContext | undefined)
    isAnswered = true
  }
  return !isAnswered && noAnswer in message ? (message as Record<symbol, unknown>)[noAnswer] : current[carry]
}

async function runListeners(handlers: readonly Handler[], message: () => Message, { report, deadline }: ListenerRun): Promise<void> {
  for (const handler of handlers) {
    try {
      const done = handler(message())
      // A listener that hangs must not hold a sign-in. One that answers at once needs no timer.
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
  // Errors, dates and objects of a class stay as they are.
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
