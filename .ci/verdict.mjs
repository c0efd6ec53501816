/** Reads vitest's JSON report and says what it is worth: a test that was skipped, or a file that did not run, is a failure here. */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'

/** Full test names that may be skipped in CI, with the reason. */
const maySkip = {}

const [report, ...failedSteps] = process.argv.slice(2)
const full = process.env.AUTHKERNEL_TIER === 'full'
const { testResults = [] } = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : {}
const tests = testResults.flatMap(({ name, assertionResults }) => assertionResults.map((test) => ({ ...test, file: relative(process.cwd(), name) })))
const passed = tests.filter(({ status }) => status === 'passed').length
const faults = []

for (const { file, fullName, status } of tests) {
  if (status === 'failed') faults.push(`${file}: ${fullName}`)
  else if (status !== 'passed' && !(fullName in maySkip)) faults.push(`${file}: ${fullName} did not run (${status}); CI skips nothing`)
}
for (const { name, status, message, assertionResults } of testResults) {
  if (status === 'failed' && !assertionResults.some((test) => test.status === 'failed')) faults.push(`${relative(process.cwd(), name)}: ${message || 'could not be loaded'}`)
}
const ran = new Set(tests.map(({ file }) => file))
for (const file of testFiles('test')) if (!ran.has(file)) faults.push(`${file}: no test of it ran`)
if (tests.length === 0) faults.push('no test ran at all')
// `npm test` and `vitest` fail because of the tests that are counted above.
for (const step of failedSteps) if (!['npm test', 'vitest'].includes(step) || faults.length === 0) faults.push(`step "${step}" failed`)

if (faults.length > 0) console.log(`Failed:\n- ${faults.join('\n- ')}\n`)
console.log(`${passed} passed, ${faults.length} failed`)
process.exitCode = faults.length > 0 ? 1 : 0

function testFiles(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === 'node_modules' || (path === 'test/runtimes' && !full) ? [] : testFiles(path)
    return /\.test(-d)?\.ts$/.test(entry.name) && (full || !entry.name.includes('.slow.test.')) ? [path] : []
  })
}
