/** `authkernel migrate --from <service>`: reads the files of an export, and shows on stderr how far it is. */
import { createReadStream, existsSync, type ReadStream, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { createGunzip } from 'node:zlib'
import type { Auth } from 'authkernel/kernel'
import type { ImportApi, ImportReport, SourceName } from 'authkernel/plugins/import'
import { createProgress } from './progress.ts'
import { type Setting, UsageError } from './report.ts'

/** Takes over from one product. */
export interface Mover {
  /** Sentence before the counts. */
  describe(report: ImportReport): string[]
  takeOver(options: { apply: boolean; accept: readonly string[]; conflicts?: 'here' | 'source' }): Promise<ImportReport>
}

/** The import of a service, of the app that `file` exports. Throws UsageError for a name, a plugin or a file that is missing. */
export function openImport(
  auth: Auth,
  { from, file, files }: { from: string; file: string; files: string | undefined },
  setting: Setting,
): Mover {
  const api = (auth as Partial<ImportApi>).import
  if (!api)
    throw new UsageError(
      `${file} does not use importPlugin(): add it, so that exports can be imported. Without it --from knows better-auth alone. From Auth.js nothing has to be taken over.`,
    )
  if (!api.sources.includes(from as SourceName))
    throw new UsageError(
      `--from knows better-auth, ${api.sources.join(', ')}, and not ${JSON.stringify(from)}. From Auth.js nothing has to be taken over.`,
    )
  const paths = (files ?? '').split(',').flatMap((path) => (path.trim() === '' ? [] : [resolve(setting.cwd, path.trim())]))
  const missing = paths.find((path) => !existsSync(path))
  if (missing !== undefined) throw new UsageError(`There is no file ${missing}.`)
  const progress = createProgress(setting)
  const exported = openFiles(paths)
  // The command looks before it makes tables: what passed then is not read for that again.
  let passed = false
  return {
    describe: () => [],
    async takeOver({ apply, accept, conflicts }) {
      try {
        const report = await api.run({
          from: from as SourceName,
          ...(paths.length > 0 && { files: exported.open }),
          apply,
          accept: apply && passed ? ['all'] : accept,
          ...(conflicts !== undefined && { conflicts }),
          onProgress: (rows, stage) => progress.show({ rows, stage, share: exported.readShare() }),
        })
        passed = report.refused.length === 0
        return report
      } finally {
        progress.end()
      }
    },
  }
}

/** Opens the files of each pass, and knows how much of them was read. */
function openFiles(paths: readonly string[]): { open(): AsyncIterable<Uint8Array>[]; readShare(): number | undefined } {
  const size = paths.reduce((sum, path) => sum + statSync(path).size, 0)
  let files: ReadStream[] = []
  return {
    open() {
      files = paths.map((path) => createReadStream(path, { highWaterMark: 262_144 }))
      return files.map((file, at) => (paths[at]!.endsWith('.gz') ? file.pipe(createGunzip()) : file))
    },
    readShare: () => (size === 0 ? undefined : files.reduce((sum, { bytesRead }) => sum + bytesRead, 0) / size),
  }
}
