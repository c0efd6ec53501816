/** A store whose calls are numbered, of which one fails in a way that stores fail. */

export const faultModes = ['throws before', 'throws after', 'hangs', 'hangs after', 'answers nonsense', 'comes late'] as const
export type FaultMode = (typeof faultModes)[number]

/** What was called, and what shall go wrong. */
export interface FaultPlan {
  /** Calls are counted, and fail, only then. */
  armed: boolean
  calls: string[]
  at: number
  mode: FaultMode
}

const setUp = new Set(['define', 'migrate', 'missing', 'close'])

/** The same store, with the faults of a plan; `parts` are members that have calls of their own. */
export function faulty<T extends object>(target: T, plan: FaultPlan, parts: readonly string[] = [], path = ''): T {
  return new Proxy(target, {
    get(object, name) {
      const value: unknown = Reflect.get(object, name)
      if (typeof name !== 'string' || value === null) return value
      if (typeof value === 'object' && parts.includes(name)) return faulty(value, plan, parts, `${path}${name}.`)
      if (typeof value !== 'function' || setUp.has(name)) return value
      const work = (...args: unknown[]): unknown => Reflect.apply(value as (...args: unknown[]) => unknown, object, args)
      return (...args: unknown[]): unknown => (plan.armed ? failing(plan, `${path}${name}`, () => work(...args)) : work(...args))
    },
  })
}

async function failing(plan: FaultPlan, name: string, work: () => unknown): Promise<unknown> {
  const { mode } = plan
  if (plan.calls.push(name) - 1 !== plan.at) return work()
  if (mode === 'throws before') throw new Error('connection refused')
  if (mode === 'hangs') return new Promise(() => {})
  // What no test looks at may be anything.
  if (mode === 'answers nonsense') return (/delete/.test(name) && (await work()), 'nonsense')
  if (mode === 'comes late') await new Promise((resolve) => setTimeout(resolve, 150))
  const result = await work()
  if (mode === 'throws after') throw new Error('connection lost')
  return mode === 'hangs after' ? new Promise(() => {}) : result
}
