/** What a bundle of a few lines weighs, as a server sends it: each file compressed. The bench and the test of the packed package count the same way. */
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

/** Bundles lines that could stand in a file of `folder`. `splitting`: what is imported on demand becomes files of its own. */
export function bundleLines(contents, { folder, external, splitting }) {
  return build({
    stdin: { contents, resolveDir: folder, loader: 'ts' },
    absWorkingDir: folder,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'es2022',
    write: false,
    metafile: true,
    splitting,
    outdir: 'out',
    logLevel: 'error',
    // Without the paths of a repository around it: the built files are what a host has.
    tsconfigRaw: '{}',
    external,
  })
}

/** Kilobytes of the entry with what it imports statically, and of all files. */
export function kilobytesOf({ outputFiles, metafile }) {
  const bytes = (path) => gzipSync(outputFiles.find((file) => file.path.endsWith(path)).contents, { level: 9 }).length
  const kilobytes = (paths) => paths.reduce((sum, path) => sum + bytes(path), 0) / 1024
  return { first: kilobytes(beforeRequests(metafile)), whole: kilobytes(Object.keys(metafile.outputs)) }
}

function beforeRequests({ outputs }) {
  const seen = new Set()
  const visit = (path) => {
    if (seen.has(path)) return
    seen.add(path)
    for (const { path: next, kind, external } of outputs[path]?.imports ?? []) if (!external && kind === 'import-statement') visit(next)
  }
  visit(Object.keys(outputs).find((path) => path.includes('stdin')))
  return [...seen]
}
