/**
 * The worker: `GET /run?file=…` runs one test file with vitest's runner and answers what became of each test; `/serve`
 * takes the requests to servers that tests start.
 */
import { type File, type Suite, startTests, type Task, type VitestRunner } from '@vitest/runner'
import files from 'test-files'
import { serve, setHub } from './node-http.ts'

/** One test, or a suite whose hook failed. */
export interface Result {
  name: string
  state: string
  error?: string
}
export default {
  async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === '/serve') return serve(request)
    setHub(searchParams.get('hub') ?? '')
    return Response.json({ agent: navigator.userAgent, results: await run(searchParams.get('file') ?? '') })
  },
}

async function run(path: string): Promise<Result[]> {
  const load = files[path]
  if (!load) return [{ name: path, state: 'fail', error: 'no such file' }]
  const [file] = await startTests([{ filepath: path }], runner(load))
  return file ? [...results(file)] : []
}

function runner(load: () => Promise<unknown>): VitestRunner {
  return {
    config: {
      root: '/',
      name: undefined,
      setupFiles: [],
      passWithNoTests: false,
      testNamePattern: undefined,
      allowOnly: false,
      sequence: { seed: 0, hooks: 'stack', setupFiles: 'list' },
      chaiConfig: undefined,
      maxConcurrency: 1,
      testTimeout: 60_000,
      hookTimeout: 60_000,
      retry: 0,
      includeTaskLocation: false,
      tags: [],
      tagsFilter: undefined,
      strictTags: true,
    },
    importFile: () => load(),
  }
}

function* results(task: Task | File | Suite): Generator<Result> {
  if (task.type === 'test' || task.result?.errors?.length) {
    const error = task.result?.errors?.map(({ message, stack }) => `${message}\n${stack}`).join('\n')
    yield { name: names(task), state: task.result?.state ?? task.mode, ...(error !== undefined && { error }) }
  }
  if (task.type === 'suite') for (const inner of task.tasks) yield* results(inner)
}

// As vitest's JSON report names them: without the file, joined by spaces.
function names(task: Task): string {
  const outer = task.suite && task.suite !== task.file ? `${names(task.suite)} ` : ''
  return task === task.file ? '' : outer + task.name
}
