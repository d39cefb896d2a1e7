import ts from 'typescript'

/** A declaration of a name, without a body. */
export interface Shape {
  name: string
  /** Where the name stands in the block. */
  nameStart: number
  kind: 'type' | 'class' | 'value'
  typeParameters: readonly { name: string; text: string }[]
}

function named(
  node: { name?: ts.BindingName | undefined; typeParameters?: ts.NodeArray<ts.TypeParameterDeclaration> | undefined },
  kind: Shape['kind'],
): Shape[] {
  if (node.name === undefined) return []
  const typeParameters = (node.typeParameters ?? []).map((one) => ({ name: one.name.text, text: one.getText() }))
  return [{ name: node.name.getText(), nameStart: node.name.getStart(), kind, typeParameters }]
}

function shapesOf(statement: ts.Statement): Shape[] {
  if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) return named(statement, 'type')
  const isAmbient =
    ts.canHaveModifiers(statement) &&
    ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.DeclareKeyword)
  if (isAmbient !== true) return []
  if (ts.isClassDeclaration(statement)) return named(statement, 'class')
  if (ts.isFunctionDeclaration(statement)) return named({ name: statement.name }, 'value')
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap((one) => named(one, 'value'))
  return []
}

/** The shapes that a block of TypeScript states, or `undefined` when it does anything else: then it is an example. */
export function shapesIn(block: string): Shape[] | undefined {
  const { statements } = ts.createSourceFile('block.ts', block, ts.ScriptTarget.Latest, true)
  const shapes = statements.map(shapesOf)
  return shapes.length === 0 || shapes.some((one) => one.length === 0) ? undefined : shapes.flat()
}
