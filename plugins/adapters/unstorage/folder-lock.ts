/**
 * One process per folder: files know no transactions between processes. The lock file names its owner by pid and start time and is
 * touched as a heartbeat; what a killed process left is taken over. Needs `node:` modules, which are loaded only for file drivers.
 */
import type { Stats } from 'node:fs'
import { createLock, type RwLock } from './rw-lock.ts'

interface Owner {
  id: string
  pid: number
  /** Start time of the process where the system tells it: pids are used again. */
  started: string | null
  host: string
  since: string
}
interface Place {
  users: number
  lock: RwLock
  opening?: Promise<Owner> | undefined
  timer?: ReturnType<typeof setInterval> | undefined
  lost?: Error
}
/** A folder of this process alone. */
interface Folder {
  /** Takes the folder, or throws naming the process that has it. */
  open(): Promise<void>
  release(): Promise<void>
  readonly lock: RwLock
}

const heartbeat = 5_000

// Only where a process cannot be asked whether it lives: another host, or a system that tells no start times.
const silence = 60_000

// Per process, not per copy of this module: two copies would lock each other out, or write past each other.
const folders: unique symbol = Symbol.for('authkernel.folders') as never
const registry = globalThis as { [folders]?: Map<string, Place> }

/** The lock of a folder; adapters of one process share it. */
export function folderLock(base: string): Folder {
  const places = (registry[folders] ??= new Map())
  let place = places.get(base)
  if (!place) places.set(base, (place = { users: 0, lock: createLock() }))
  const mine = place
  let using = false
  return {
    lock: mine.lock,
    async open() {
      mine.opening ??= acquireFolder(base)
      try {
        const owner = await mine.opening
        mine.timer ??= startHeartbeat(base, owner, mine)
      } catch (error) {
        // Asked again next time: the other process may have gone.
        mine.opening = undefined
        throw error
      }
      if (mine.lost) throw mine.lost
      if (!using) mine.users++
      using = true
    },
    async release() {
      if (!using || !mine.opening) return
      using = false
      if (--mine.users > 0) return
      const owner = await mine.opening
      clearInterval(mine.timer)
      mine.opening = mine.timer = undefined
      if (!mine.lost) await giveBack(base, owner)
    },
  }
}

async function acquireFolder(base: string): Promise<Owner> {
  const { mkdir, rename, rm } = await import('node:fs/promises')
  await mkdir(base, { recursive: true })
  const me = await describeProcess()
  const file = lockFile(base)
  for (;;) {
    if (await placeFile(file, me)) return me
    const owner = await readOwner(file)
    if (!owner) continue
    // Placed, although the file system said otherwise: its answer was lost and the call repeated.
    if (owner.id === me.id) return me
    await refuseIfAlive(base, file, owner)
    // Exactly one process may follow a dead owner: the one that places the file named after it. A file of that name whose maker died
    // too is followed in the same way.
    const claims: string[] = []
    let dead = owner
    for (;;) {
      const claim = `${file}.${dead.id}`
      claims.push(claim)
      if (await placeFile(claim, me)) break
      const rival = await readOwner(claim)
      if (!rival) continue
      await refuseIfAlive(base, claim, rival)
      dead = rival
    }
    const unchanged = (await readOwner(file))?.id === owner.id
    // Replaced in one step, so that no process ever sees a free folder.
    if (unchanged) await rename(claims.at(-1)!, file)
    for (const claim of claims) await rm(claim, { force: true })
    if (unchanged) return me
  }
}

/** Creates a file with its whole content, or answers false when it exists. */
async function placeFile(file: string, me: Owner): Promise<boolean> {
  const { link, rm, writeFile } = await import('node:fs/promises')
  const draft = `${file}.${me.id}.draft`
  await writeFile(draft, JSON.stringify(me))
  try {
    // Some file systems have no hard links; there a reader may see the file before its content.
    await link(draft, file).catch((error: { code?: string }) =>
      error.code === 'EEXIST' ? Promise.reject(error) : writeFile(file, JSON.stringify(me), { flag: 'wx' }),
    )
    return true
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST') return false
    throw error
  } finally {
    await rm(draft, { force: true })
  }
}

async function readOwner(file: string): Promise<Owner | undefined> {
  const { readFile } = await import('node:fs/promises')
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Owner
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined
    throw new Error(`[unstorage] ${file} is not a lock file of authkernel. Remove it if no process uses this folder.`, { cause: error })
  }
}

async function refuseIfAlive(base: string, file: string, owner: Owner): Promise<void> {
  if (!(await isAlive(file, owner))) return
  throw new Error(
    `[unstorage] The folder ${base} is in use by process ${owner.pid} on ${owner.host} since ${owner.since}. ` +
      'Files serve one process: stop the other one, or use Redis or SQL for several.',
  )
}

async function isAlive(file: string, owner: Owner): Promise<boolean> {
  const { hostname } = await import('node:os')
  if (owner.host !== hostname()) return !(await isSilent(file))
  try {
    process.kill(owner.pid, 0)
  } catch (error) {
    // EPERM: there is one, of another user.
    if ((error as { code?: string }).code === 'ESRCH') return false
  }
  const started = await startOf(owner.pid)
  return started === null || owner.started === null ? !(await isSilent(file)) : started === owner.started
}

async function isSilent(file: string): Promise<boolean> {
  const { stat } = await import('node:fs/promises')
  const found: Stats | undefined = await stat(file).catch(() => undefined)
  return !found || Date.now() - found.mtimeMs > silence
}

function startHeartbeat(base: string, owner: Owner, place: Place): ReturnType<typeof setInterval> {
  const timer = setInterval(async () => {
    const { utimes } = await import('node:fs/promises')
    const file = lockFile(base)
    const current = await readOwner(file).catch(() => undefined)
    if (current?.id === owner.id) await utimes(file, new Date(), new Date()).catch(() => {})
    else if (place.timer) place.lost = new Error(`[unstorage] The folder ${base} was taken over by another process; restart this one.`)
  }, heartbeat)
  timer.unref?.()
  return timer
}

async function giveBack(base: string, owner: Owner): Promise<void> {
  const { rm } = await import('node:fs/promises')
  const file = lockFile(base)
  if ((await readOwner(file).catch(() => undefined))?.id === owner.id) await rm(file, { force: true })
}

async function describeProcess(): Promise<Owner> {
  const { hostname } = await import('node:os')
  const { pid } = process
  return { id: crypto.randomUUID(), pid, started: await startOf(pid), host: hostname(), since: new Date().toISOString() }
}

/** Start time in clock ticks since boot (proc(5), field 22), with the boot itself; null where there is no /proc. */
async function startOf(pid: number): Promise<string | null> {
  const { readFile } = await import('node:fs/promises')
  try {
    const [stat, boot] = await Promise.all([readFile(`/proc/${pid}/stat`, 'utf8'), readFile('/proc/sys/kernel/random/boot_id', 'utf8')])
    // The name of the program is in brackets and may hold spaces and brackets.
    return `${boot.trim()} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`
  } catch {
    return null
  }
}

function lockFile(base: string): string {
  return `${base}/.authkernel-lock`
}
