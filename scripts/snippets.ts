/**
 * Type-checks every TypeScript example of README.md, CONTRIBUTING.md, SECURITY.md and docs/ against the sources.
 * Each ```ts block is a module of its own; ```ts continued goes on with the block before it on the same page.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
const cache = join(root, 'node_modules/.cache/authkernel-snippets')

/** One example and where it stands. */
export interface Snippet {
  page: string
  code: string
  lines: { text: string; number: number }[]
}

/** Which pages are checked. */
export interface SnippetSelection {
  /** Default: all. */
  pages?: string[]
  /** Of the pages that are compiled alone, a second or two each: those that this run takes. Default: all. */
  sample?: (alone: string[]) => string[]
}

/** What the compiler says about the examples, as `page:line: message`. */
export function checkSnippets({ pages = allPages(), sample = (alone) => alone }: SnippetSelection = {}): {
  count: number
  errors: string[]
} {
  const snippets = pages.flatMap((page) => readSnippets(page, readFileSync(join(root, page), 'utf8')))
  // An augmentation is seen by the whole program, so pages that augment are compiled alone.
  const alone = [...new Set(snippets.filter(({ code }) => /declare (?:module|global)/.test(code)).map(({ page }) => page))]
  const programs = [
    snippets.filter(({ page }) => !alone.includes(page)),
    ...sample(alone).map((page) => snippets.filter((snippet) => snippet.page === page)),
  ]
  return {
    count: snippets.length,
    errors: programs.flatMap((program, i) => (program.length > 0 ? compile(program, join(cache, String(i))) : [])),
  }
}

/** Examples of one page: their code and the line of the page where each of their lines stands. */
export function readSnippets(page: string, text: string): Snippet[] {
  const found: Pick<Snippet, 'page' | 'lines'>[] = []
  let open: { typescript: boolean; continues: boolean; lines: Snippet['lines'] } | undefined
  text.split('\n').forEach((line, i) => {
    const fence = /^\s*```+(.*)$/.exec(line)
    if (!fence) {
      open?.lines.push({ text: line, number: i + 1 })
    } else if (open) {
      const previous = found.at(-1)
      if (open.continues && previous) previous.lines.push(...open.lines)
      else if (open.typescript) found.push({ page, lines: open.lines })
      open = undefined
    } else {
      const [language, option] = (fence[1] ?? '').trim().split(/\s+/)
      open = { typescript: language === 'ts' || language === 'typescript', continues: option === 'continued', lines: [] }
    }
  })
  return found.map(({ page, lines }) => ({ page, lines, code: lines.map(({ text }) => text).join('\n') }))
}

function compile(snippets: Snippet[], folder: string): string[] {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  snippets.forEach(({ code }, i) => writeFileSync(join(folder, `${i}.ts`), `${code}\nexport {}\n`))
  const options = { noEmit: true, declaration: false, isolatedDeclarations: false, noUnusedLocals: false }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    // Bindings name modules of frameworks that are not installed here.
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: options,
      include: ['.', join(root, 'bindings/_modules.d.ts')],
      exclude: [],
    }),
  )
  try {
    execFileSync(process.execPath, [join(root, 'node_modules/typescript-7/bin/tsc'), '-p', folder, '--pretty', 'false'], {
      cwd: folder,
      encoding: 'utf8',
      stdio: 'pipe',
    })
    return []
  } catch (error) {
    return (error as { stdout: string }).stdout
      .split('\n')
      .filter((line) => line.includes(': error '))
      .map((line) => {
        const [, file, at, message] = /^(\d+)\.ts\((\d+),\d+\): error (.*)$/.exec(line) ?? []
        if (!file) return line
        const snippet = snippets[Number(file)]
        return `${snippet?.page}:${snippet?.lines[Number(at) - 1]?.number ?? '?'}: ${message}`
      })
  }
}

function allPages(): string[] {
  const docs = existsSync(join(root, 'docs')) ? readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }) : []
  return ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...docs.map((page) => `docs/${page}`.replaceAll('\\', '/'))].filter(
    (page) => page.endsWith('.md') && existsSync(join(root, page)),
  )
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const pages = process.argv.slice(2)
  const { count, errors } = checkSnippets(pages.length > 0 ? { pages } : {})
  for (const error of errors) console.error(error)
  console.log(`${count} examples, ${errors.length} errors`)
  process.exitCode = errors.length > 0 ? 1 : 0
}
