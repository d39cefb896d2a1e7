import type { SeqMembers, VocabularyPack } from '../log.ts'

const none: SeqMembers = {}
const range: SeqMembers = { start: 'cited', end: 'cited', startSeq: 'cited', endSeq: 'cited' }
const shadowed: SeqMembers = { shadowedRange: range, shadowedSeqs: 'cited' }
const titled: SeqMembers = { messageSeqs: 'cited' }

/**
 * The event types that deepseek-harness and its plugins log beside the core's. A delivery names the last event that was
 * delivered under the old numbers, and a workflow counts its own agents: those keep their values. SPEC 6.
 */
export const deepSeekHarnessPack: VocabularyPack = {
  name: 'deepseek-harness',
  types: {
    'agent-preset/selected': none,
    'agent/inbox/spliced': none,
    'approval/asked': none,
    'approval/decided': none,
    'approval/policy': none,
    'command/done': { sourceEventSeq: 'cited', sourceEventSeqs: 'cited' },
    'command/run': { sourceEventSeq: 'cited', sourceEventSeqs: 'cited' },
    'compaction/end': none,
    'compaction/prune': shadowed,
    'compaction/start': none,
    'compaction/summary': shadowed,
    'deliverables/presented': none,
    'feedback/message-delete': none,
    'feedback/message-put': none,
    'feedback/record': none,
    'goal/change': none,
    'hook/invoked': none,
    'hook/result': none,
    'image/offload': none,
    'llm/retry': none,
    'llm/retry-started': none,
    'model/selection': none,
    'permission/preset': none,
    'plan/mode': none,
    'sandbox/mode': none,
    'schedule/change': none,
    'session-log-deepseek/delivery-accepted': none,
    'session/title': titled,
    'session/title-llm-request': titled,
    'subagent/catalog': none,
    'subagent/descriptor': none,
    'subagent/model-selection-policy': none,
    'team/member': none,
    'team/message/delivered': none,
    'team/message/queued': none,
    'team/task': none,
    'todo/write': none,
    'tool-workflow/agent-end': none,
    'tool-workflow/agent-start': none,
    'tool-workflow/run-end': none,
    'tool-workflow/run-start': none,
    'tool/code-dispatch': none,
    'tool/code-dispatch-start': none,
    'tool/ptc-dispatch': none,
    'tool/ptc-dispatch-start': none,
    'web/deepseek-search-llm-request': none,
    'workspace/changes': none,
  },
  renamed: {
    'tool/code-dispatch': { at: 3, to: 'tool/ptc-dispatch' },
    'tool/code-dispatch-start': { at: 3, to: 'tool/ptc-dispatch-start' },
  },
}
