/** Bundles the script of the sign-in page into browser.generated.ts of the plugins that have passkeys on a page. Run it after changing src/client/{page-script,ceremony}.ts. */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = new URL('../', import.meta.url)

// Plugins do not import each other.
export const files = ['plugins/sign-in/webauthn/browser.generated.ts', 'plugins/security/two-factor/browser.generated.ts']

/** The text of the generated files. */
export async function generate() {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('src/client/page-script.ts', root))],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2020',
    charset: 'ascii',
  })
  const script = outputFiles[0].text.trim()
  // It would end the element that the page puts this into.
  if (/<\/script|<!--/i.test(script)) throw new Error('The script must not contain "</script" or "<!--".')
  const literal = script.replace(/[`\\]|\$\{/g, '\\$&')
  return `// Made by scripts/build-browser.mjs from src/client/page-script.ts. Do not edit.\nexport const browserScript: string = \`${literal}\`\n`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const file of files) writeFileSync(new URL(file, root), await generate())
}
