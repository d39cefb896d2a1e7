import type { AgentModel } from '@palimpsest/agent-loop'
import { CliError } from '../exit.ts'
import type { Io } from '../io.ts'

/** What every published package gives. */
export type ChatModel = Extract<AgentModel, { readonly specificationVersion: 'v4' }>

interface Settings {
  readonly apiKey?: string
  readonly baseURL?: string
}

interface Provider {
  /** Environment variable of the key. */
  readonly key: string
  /** A local server may want none. */
  readonly isKeyOptional?: true
  /** There is no address that everybody means. */
  readonly needsBaseUrl?: true
  readonly open: (modelId: string, settings: Settings) => Promise<ChatModel>
}

/** Each package is loaded when its provider is asked for, and never otherwise. */
const providers: Readonly<Record<string, Provider>> = {
  anthropic: {
    key: 'ANTHROPIC_API_KEY',
    open: async (modelId, settings) => (await import('@ai-sdk/anthropic')).createAnthropic(settings)(modelId),
  },
  openai: {
    key: 'OPENAI_API_KEY',
    open: async (modelId, settings) => (await import('@ai-sdk/openai')).createOpenAI(settings).responses(modelId),
  },
  'openai-chat': {
    key: 'OPENAI_API_KEY',
    open: async (modelId, settings) => (await import('@ai-sdk/openai')).createOpenAI(settings).chat(modelId),
  },
  deepseek: {
    key: 'DEEPSEEK_API_KEY',
    open: async (modelId, settings) => (await import('@ai-sdk/deepseek')).createDeepSeek(settings)(modelId),
  },
  compatible: {
    key: 'COMPATIBLE_API_KEY',
    isKeyOptional: true,
    needsBaseUrl: true,
    open: async (modelId, { baseURL = '', ...settings }) => {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
      return createOpenAICompatible({ ...settings, name: 'compatible', baseURL, includeUsage: true })(modelId)
    },
  },
}

/** Text of the options that name a model. */
export const modelHelp = `a model as provider/model; providers: ${Object.keys(providers).join(', ')}`

/**
 * The model that `provider/model` names, with the key of the environment. Throws `CliError` `option/invalid` for a name or
 * an address that is none, and `chat/no-key`.
 */
export async function openModel(
  { env }: Pick<Io, 'env'>,
  name: string,
  baseUrl: string | undefined,
): Promise<ChatModel> {
  const slash = name.indexOf('/')
  const [providerName, modelId] = [name.slice(0, Math.max(0, slash)), name.slice(slash + 1)]
  const provider = Object.hasOwn(providers, providerName) ? providers[providerName] : undefined
  if (provider === undefined || modelId === '') {
    const known = Object.keys(providers).join(', ')
    throw new CliError('option/invalid', `${name} names no model: write provider/model with one of ${known}`)
  }
  if (baseUrl !== undefined) refuseAddress(baseUrl, provider)
  if (provider.needsBaseUrl === true && baseUrl === undefined) {
    throw new CliError('option/invalid', `${providerName} is any server: say which with --base-url`)
  }
  const apiKey = env[provider.key]
  const hasKey = apiKey !== undefined && apiKey !== ''
  if (!hasKey && provider.isKeyOptional !== true) {
    throw new CliError('chat/no-key', `${providerName} needs a key: set ${provider.key}`)
  }
  return provider.open(modelId, {
    ...(hasKey ? { apiKey } : {}),
    ...(baseUrl === undefined ? {} : { baseURL: baseUrl }),
  })
}

/** Credentials in an address are not repeated: what is said goes to logs. */
function refuseAddress(baseUrl: string, { key }: Provider): void {
  if (!/^https?:\/\//.test(baseUrl) || !URL.canParse(baseUrl)) {
    const named = baseUrl.includes('@') ? '--base-url' : `--base-url ${baseUrl}`
    throw new CliError('option/invalid', `${named} is no address: expected http:// or https:// and a host`)
  }
  const { username, password } = new URL(baseUrl)
  if (username !== '' || password !== '') {
    throw new CliError('option/invalid', `--base-url carries credentials, which no request may: set ${key}`)
  }
}
