/** `authkernel migrate --from <service>`: reads the files of an export, and shows on stderr how far it is. */
import { createReadStream, existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { createGunzip } from 'node:zlib'
import type { Auth } from 'authkernel/kernel'
import type { ImportApi, ImportReport, SourceName } from 'authkernel/plugins/import'
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
  // The command looks before it makes tables: what passed then is not read for that again.
  let passed = false
  return {
    describe: () => [],
    async takeOver({ apply, accept, conflicts }) {
      try {
        const report = await api.run({
          from: from as SourceName,
          ...(paths.length > 0 && { files: () => paths.map(openFile) }),
          apply,
          accept: apply && passed ? ['all'] : accept,
          ...(conflicts !== undefined && { conflicts }),
          onProgress: progress.show,
        })
        passed = report.refused.length === 0
        return report
      } finally {
        progress.end()
      }
    },
  }
}

function openFile(path: string): AsyncIterable<Uint8Array> {
  const file = createReadStream(path, { highWaterMark: 262_144 })
  return path.endsWith('.gz') ? file.pipe(createGunzip()) : file
}

/** One line that is replaced on a terminal, and a line every ten seconds in a log. */
function createProgress({ status }: Setting): { show(rows: number, stage: 'look' | 'write'): void; end(): void } {
  const began = { at: Date.now(), stage: '', shown: 0 }
  return {
    show(rows, stage) {
      const now = Date.now()
      if (began.stage !== stage) Object.assign(began, { at: now, stage, shown: 0 })
      if (now - began.shown < (status.replaces ? 200 : 10_000) && began.shown !== 0) return
      began.shown = now
      const speed = Math.round(rows / Math.max(0.001, (now - began.at) / 1000))
      status.write(`${stage === 'look' ? 'read' : 'imported'} ${rows.toLocaleString('en')} rows, ${speed.toLocaleString('en')} a second`)
    },
    end: () => status.write(''),
  }
}
