/** The four verbs of hooks and events. */
import { describe, expect, it } from 'vitest'
import type { AnyContext } from '../../src/contract/context.ts'
import { HookBus, type ListenerRun } from '../../src/registry/hooks.ts'

const later = <T>(value: T): Promise<T> => new Promise((resolve) => setImmediate(() => resolve(value)))
/** A bus with one hook `q` and the given handlers, each owned by its index. */
function bus(verb: 'guard' | 'first' | 'pipe', ...handlers: ((message: Record<string, unknown>) => unknown)[]): HookBus {
  const made = new HookBus()
  made.declare('q', verb === 'pipe' ? { verb, carry: 'value' } : { verb })
  handlers.forEach((handler, i) => made.add('hook', 'q', handler, String(i)))
  return made
}

const facts = { requestId: 'r', address: undefined, userAgent: undefined, namespace: '', at: 0, job: undefined }
const ctx = { facts } as unknown as AnyContext
const telling = (reported: unknown[] = [], deadline = 1000): ListenerRun => ({
  ctx,
  deadline,
  report: (error) => void reported.push((error as Error).message),
})

describe('guard', () => {
  it.each([
    ['nobody asked', [], true],
    ['all say true', [true, true], true],
    ['one says false', [true, false, true], false],
    ['a URL', [true, '/apply', false], '/apply'],
    ['an empty text is no', [''], false],
    ['nothing is no', [undefined], false],
    ['null is no', [null], false],
    ['1 is no', [1], false],
    ['an object is no', [{}], false],
  ])('%s', async (_name, answers, expected) => {
    expect(await bus('guard', ...answers.map((answer) => () => answer)).ask('q', {})).toBe(expected)
    expect(await bus('guard', ...answers.map((answer) => () => later(answer))).ask('q', {})).toBe(expected)
  })

  it('no guard is asked after a no', async () => {
    const asked: string[] = []
    await bus(
      'guard',
      () => later(true),
      () => (asked.push('second'), false),
      () => (asked.push('third'), true),
    ).ask('q', {})
    expect(asked).toEqual(['second'])
  })
})

describe('first', () => {
  it.each([
    ['nobody asked', [], undefined],
    ['the newest wins', ['old', 'new'], 'new'],
    ['no opinion goes to the older', ['old', undefined], 'old'],
    ['null, false and empty are opinions', ['old', null], null],
    ['false', ['old', false], false],
    ['empty', ['old', ''], ''],
  ])('%s', async (_name, answers, expected) => {
    expect(await bus('first', ...answers.map((answer) => () => answer)).ask('q', {})).toBe(expected)
    expect(await bus('first', ...answers.map((answer) => () => later(answer))).ask('q', {})).toBe(expected)
  })

  it('leaves out the handlers of one plugin', async () => {
    const made = bus(
      'first',
      () => 'zero',
      () => 'one',
    )
    expect(await made.ask('q', {}, undefined, '1')).toBe('zero')
    expect(await made.ask('q', {}, undefined, '0')).toBe('one')
  })
})

describe('pipe', () => {
  const add = ({ value }: Record<string, unknown>) => `${String(value)}+`
  it.each([
    ['nobody asked: the value as it came', [], 'v'],
    ['handed on', [add, add], 'v++'],
    ['undefined leaves it', [add, () => undefined, add], 'v++'],
    ['null ends', [add, () => null, add], null],
    ['other empty values are values', [() => ''], ''],
  ])('%s', async (_name, handlers, expected) => {
    expect(await bus('pipe', ...handlers).ask('q', { value: 'v' })).toBe(expected)
    expect(
      await bus('pipe', ...handlers.map((handler) => (message: Record<string, unknown>) => later(handler(message)))).ask('q', {
        value: 'v',
      }),
    ).toBe(expected)
  })

  it('hands the other fields on untouched and writes to no message', async () => {
    const message = Object.freeze({ value: 'v', other: 1 })
    const seen: unknown[] = []
    await bus('pipe', add, (given) => void seen.push(given)).ask('q', message)
    expect(seen).toEqual([{ value: 'v+', other: 1 }])
  })
})

describe('both kinds', () => {
  it('an event without a listener is not even created', () => {
    expect(new HookBus().emit('signIn', {}, telling())).toBeUndefined()
  })

  it('throws what a handler throws, now or later', async () => {
    const broken = () => {
      throw new Error('no')
    }
    for (const verb of ['guard', 'first', 'pipe'] as const) {
      await expect(bus(verb, broken).ask('q', { value: 1 })).rejects.toThrow('no')
      await expect(bus(verb, () => later(undefined).then(broken)).ask('q', { value: 1 })).rejects.toThrow('no')
    }
  })

  it('one handler may serve two plugins, and twice', async () => {
    const asked: unknown[] = []
    const handler = (message: Record<string, unknown>) => void asked.push(message)
    await bus('first', handler, handler).ask('q', { a: 1 })
    expect(asked).toEqual([{ a: 1 }, { a: 1 }])
  })

  it('names of Object.prototype are no hooks', async () => {
    await expect(new HookBus().ask('constructor', {})).rejects.toThrow('No plugin declared the hook "constructor"')
    expect(new HookBus().has('hook', '__proto__')).toBe(false)
  })
})

describe('events', () => {
  it('row 150: in order, awaited; failures are reported and break nothing', async () => {
    const heard: string[] = []
    const reported: unknown[] = []
    const made = new HookBus()
    made.add('on', 'e', () => later(void heard.push('slow')), 'a')
    made.add(
      'on',
      'e',
      () => {
        throw new Error('sync')
      },
      'b',
    )
    made.add('on', 'e', () => Promise.reject(new Error('async')), 'c')
    made.add('on', 'e', () => void heard.push('last'), 'd')
    await made.emit('e', {}, telling(reported))
    expect(heard).toEqual(['slow', 'last'])
    expect(reported).toEqual(['sync', 'async'])
  })

  it('D31: a listener that hangs is given up at its deadline, and the next is told', async () => {
    const heard: string[] = []
    const reported: unknown[] = []
    const made = new HookBus()
    made.add('on', 'e', () => new Promise(() => {}), 'a')
    made.add('on', 'e', () => void heard.push('next'), 'b')
    await made.emit('e', {}, telling(reported, 20))
    expect(heard).toEqual(['next'])
    expect(reported).toEqual(['an event handler did not finish within 20 ms'])
  })
})

describe('listeners observe', () => {
  it('row 369: what one does to the message reaches neither the flow nor the next one', async () => {
    const user = { name: 'Ann', tags: ['a'], address: { city: 'Bern' }, since: new Date(0) }
    const error = new Error('as it is')
    const message: Record<string, unknown> = { user, error }
    message['self'] = message
    const heard: Record<string, unknown>[] = []
    const made = new HookBus()
    made.add(
      'on',
      'e',
      (given) => {
        const told = given as { user: typeof user }
        told.user.name = 'Mallory'
        told.user.tags.push('b')
        told.user.address.city = 'Elsewhere'
      },
      'a',
    )
    made.add('on', 'e', (given) => void heard.push(given), 'b')
    await made.emit('e', message, telling())
    expect(user).toEqual({ name: 'Ann', tags: ['a'], address: { city: 'Bern' }, since: new Date(0) })
    expect(heard[0]).toMatchObject({ user, error })
    expect(heard[0]?.['error']).toBe(error)
    expect(heard[0]?.['self']).toBe(heard[0])
  })

  it('names of prototypes in a message stay names', async () => {
    const made = new HookBus()
    made.add('on', 'e', () => {}, 'a')
    await made.emit('e', { data: JSON.parse('{"__proto__":{"polluted":1}}') as object }, telling())
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})
