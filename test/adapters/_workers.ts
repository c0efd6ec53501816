/** Starts processes that work on one store, and waits for each of their answers. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { inject } from 'vitest'
import type { SplitSpec, StoreSpec } from './_stores.ts'
import type { Answer, Task } from './_worker.ts'

/** A started process. */
export interface Worker {
  readonly child: ChildProcess
  /** What it told besides answers. */
  readonly told: Record<string, unknown>[]
  ask(task: Task): Promise<Answer>
  /** Ends it as the kernel of an operating system does when memory runs out. */
  kill(): Promise<void>
}

/** One process; it has not opened a store yet. */
export async function startWorker(env: Record<string, string> = {}): Promise<Worker> {
  const child = fork(inject('workerBundle'), [], {
    env: { ...process.env, ...env },
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const waiting = new Map<number, { resolve(answer: Answer): void; reject(error: Error): void }>()
  const told: Record<string, unknown>[] = []
  let next = 0
  child.on('exit', (code, signal) => {
    for (const { reject } of waiting.values()) reject(new Error(`the worker ended (${signal ?? code})`))
  })
  const ready = once(child, 'message')
  const died = once(child, 'exit').then(() => Promise.reject(new Error('the worker ended before it was ready')))
  died.catch(() => {})
  await Promise.race([ready, died])
  child.on('message', (message: Answer | Record<string, unknown>) => {
    if (!('id' in message)) return void told.push(message)
    waiting.get((message as Answer).id)?.resolve(message as Answer)
    waiting.delete((message as Answer).id)
  })
  return {
    child,
    told,
    ask(task) {
      const id = next++
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject })
        child.send({ id, task })
      })
    },
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exit = once(child, 'exit')
      child.kill('SIGKILL')
      await exit
    },
  }
}

/** Several processes with one store open in each. */
export async function startWorkers(count: number, store: StoreSpec | SplitSpec): Promise<Worker[]> {
  const workers = await Promise.all([...Array(count).keys()].map(() => startWorker()))
  for (const worker of workers) await worker.ask({ do: 'open', store })
  return workers
}
