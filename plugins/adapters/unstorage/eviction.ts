/** Servers that remove keys to free memory. What they remove may be what says that a value was used. */
import type { MissingPart } from 'authkernel/kernel'

/** Faults by the answers to `INFO memory` of each primary. `consequence` says what is lost. A server that says nothing of it is not rejected. */
export function findEviction(infos: readonly unknown[], consequence: string): MissingPart[] {
  const [policy] = infos.map(String).filter(isEvicting).map(readPolicy)
  if (policy === undefined) return []
  return [
    {
      name: `the setting "maxmemory-policy noeviction" of Redis (it is "${policy}"): when memory is full, ${consequence}`,
      remedy: 'Set `maxmemory-policy noeviction` at the server, or use a separate server for authkernel.',
    },
  ]
}

function isEvicting(info: string): boolean {
  const [, most = '0'] = /^maxmemory:(\d+)/m.exec(info) ?? []
  return most !== '0' && readPolicy(info) !== 'noeviction'
}

function readPolicy(info: string): string {
  return /^maxmemory_policy:([\w-]+)/m.exec(info)?.[1] ?? 'noeviction'
}
