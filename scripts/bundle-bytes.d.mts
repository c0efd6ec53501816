import type { BuildResult } from 'esbuild'

type Bundle = BuildResult<{ write: false; metafile: true }>

export function bundleLines(contents: string, options: { folder: string; external: readonly string[]; splitting: boolean }): Promise<Bundle>
export function kilobytesOf(bundle: Bundle): { first: number; whole: number }
