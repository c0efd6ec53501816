/** Files of a project: what they are, and what they will be. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Project } from './project.ts'

/** A file as it will be. */
export interface Change {
  path: string
  /** Null: the file is new. */
  before: string | null
  after: string
  /** Readable by its owner alone. */
  secret?: boolean
}
/** Files to write, and what a user must do manually. */
export interface Wiring {
  changes: Change[]
  notes: string[]
}

/** The text of a file of the project; null when it is not there. */
export function readProjectFile({ cwd }: Pick<Project, 'cwd'>, path: string): string | null {
  const file = join(cwd, path)
  return existsSync(file) ? readFileSync(file, 'utf8') : null
}

/** A new file; one that is there already is left alone, unless it does what the new one would: `connected` says how that is seen. */
export function createFile(
  project: Project,
  path: string,
  after: string,
  advice: string,
  connected: RegExp = /['"][./@$\w]*\/auth(?:\.js|\.ts)?['"]/,
): Wiring {
  const before = readProjectFile(project, path)
  if (before === null) return { changes: [{ path, before, after }], notes: [] }
  return { changes: [], notes: before === after || connected.test(before) ? [] : [`${path} is there already: ${advice}.`] }
}
