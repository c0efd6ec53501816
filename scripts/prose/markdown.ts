/** Our rules as a rule of textlint, over Markdown. Code blocks, HTML and the address of a link are not read. */
import { TextlintKernel, type TextlintPluginCreator, type TextlintRuleModule } from '@textlint/kernel'
import * as markdownModule from '@textlint/textlint-plugin-markdown'
import { checkProse, isSuspicious } from './check.ts'

// A CommonJS module, whose `default` Node and loaders put in different places.
const { default: found } = markdownModule as unknown as { default: TextlintPluginCreator | { default: TextlintPluginCreator } }
const markdownPlugin = 'default' in found ? found.default : found
const kernel = new TextlintKernel()

const proseRule: TextlintRuleModule = ({ Syntax, RuleError, report, getSource }) => {
  const check = (node: Parameters<typeof getSource>[0] & object): void => {
    for (const { index, message } of checkProse(maskMarkup(getSource(node)))) report(node, new RuleError(message, { index }))
  }
  return { [Syntax.Paragraph]: check, [Syntax.Header]: check, [Syntax.TableCell]: check }
}

/** Messages of one page, as `line:column message`. */
export async function checkMarkdown(text: string): Promise<string[]> {
  const masked = maskMarkup(text.replace(/^```[\s\S]*?^```/gm, (code) => code.replace(/\S/g, ' ')))
  if (!isSuspicious(masked, text.split(/\n\s*\n|\n(?=\s*(?:[-*+] |1\. |[|#>]|```))|(?<=^\|.*)\|/m).map(maskMarkup))) return []
  const { messages } = await kernel.lintText(text, {
    ext: '.md',
    plugins: [{ pluginId: 'markdown', plugin: markdownPlugin }],
    rules: [{ ruleId: 'prose', rule: proseRule }],
  })
  return messages.map(({ loc, message }) => `${loc.start.line}:${loc.start.column} ${message}`)
}

// Every character stays at its place, so that an index is one of the source.
function maskMarkup(source: string): string {
  return source
    .replace(/(`+)([\s\S]*?)\1/g, (code) => `\`${'x'.repeat(code.length - 2)}\``)
    .replace(/\]\([^)]*\)/g, (target) => `]${' '.repeat(target.length - 1)}`)
    .replace(/<!--[\s\S]*?-->|<[^>\s][^>]*>|https?:\/\/\S+/g, (markup) => ' '.repeat(markup.length))
    .replace(/[*[\]!|>#]/g, ' ')
}
