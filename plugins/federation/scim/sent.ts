/** What a directory sent: its body is read in the dialect of the directory, and what is unusual for it is logged once. */
import { type Dialect, detectDialect, habitsOf, isDialect, keepDetection } from './dialects.ts'
import { describeHabit, findHabits, type Habit, rejectHabit } from './habits.ts'
import { type PatchOperation, readPatch } from './patch.ts'
import { readObject, readResource, type ScimResource } from './resource.ts'
import type { ResourceType } from './schemas.ts'
import type { Caller } from './caller.ts'

/** The operations of a PATCH. Throws ScimError 400, also for habits where the dialect is `standard`. */
export async function readSentPatch(caller: Caller, type: ResourceType, body: unknown): Promise<PatchOperation[]> {
  await checkHabits(caller, type, body)
  return readPatch(type, body, noteUnknown(caller))
}

/** The resource of a POST or PUT. Throws ScimError 400, also for habits where the dialect is `standard`. */
export async function readSentResource(caller: Caller, type: ResourceType, body: unknown): Promise<ScimResource> {
  await checkHabits(caller, type, body)
  return readResource(type, body, noteUnknown(caller))
}

/** The dialect that a directory is read in: the one that was chosen, else the detected one. Undefined: it is not known yet. */
export function dialectOf({ directory }: Pick<Caller, 'directory'>): Dialect | undefined {
  const { dialect, detected } = directory
  return isDialect(dialect) ? dialect : isDialect(detected) ? detected : undefined
}

async function checkHabits(caller: Caller, type: ResourceType, body: unknown): Promise<void> {
  const habits = findHabits(type, readObject(body, 'body'))
  if (!caller.ctx.request.headers.get('user-agent')) habits.push('noUserAgent')
  if (caller.directory.dialect === 'standard') {
    const rejected = habits.find((habit) => habit !== 'noUserAgent')
    if (rejected) rejectHabit(rejected)
  }
  await keepDetection(caller, habits)
  const dialect = dialectOf(caller) ?? detectDialect(caller, habits)
  // Of a product that is not known yet a missing User-Agent says nothing.
  const usual: readonly Habit[] = dialect ? habitsOf(dialect) : ['noUserAgent']
  for (const habit of habits)
    if (!usual.includes(habit)) logOnce(caller, habit, 'scim-unusual', { dialect: dialect ?? 'unknown', what: describeHabit(habit) })
}

// The callback for readers of resources: attributes that no schema has are ignored.
function noteUnknown(caller: Caller): (name: string) => void {
  return (name) => {
    const attribute = name.slice(0, 100)
    logOnce(caller, `attribute ${attribute}`, 'scim-unknown-attribute', { attribute })
  }
}

// Bounded, so that a client which invents names fills no memory.
const loggedKeys = new Set<string>()
const most = 1000

/** Once in this process for each directory and key. */
function logOnce({ ctx, directory }: Caller, key: string, code: string, facts: Readonly<Record<string, string>>): void {
  const full = `${ctx.facts.namespace} ${directory.id} ${key}`
  if (loggedKeys.has(full) || loggedKeys.size >= most) return
  loggedKeys.add(full)
  ctx.logger.debug(code, { directory: directory.name, ...facts })
}
