// What the compiler does not see. Names from traces are text: everything that
// would read them as HTML is forbidden.

import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist/**", "node_modules/**"] },
  ...tseslint.configs.recommended,
  {
    files: ["**/*.ts", "**/*.tsx"],
    rules: {
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "@typescript-eslint/no-non-null-assertion": "off",
      "@typescript-eslint/no-unused-expressions": ["error", { allowShortCircuit: true, allowTernary: true }],
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-console": "error",
      "no-eval": "error",
      "prefer-const": ["error", { destructuring: "all" }],
      "max-lines": ["error", { max: 500, skipBlankLines: true, skipComments: true }],
      "no-restricted-properties": [
        "error",
        ...["innerHTML", "outerHTML", "insertAdjacentHTML"].map((property) => ({ property, message: "Names come from traces: use text." })),
        { object: "document", property: "write", message: "Names come from traces: use text." },
      ],
      "no-restricted-syntax": ["error", { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: "Names come from traces: use text." }],
    },
  },
  { files: ["test/**", "**/*.test.ts"], rules: { "no-console": "off" } },
  {
    // Who may import whom, as in the house's table.
    files: ["src/widget/**"],
    rules: { "no-restricted-imports": ["error", { patterns: [{ group: ["../api/*", "../scene/*", "../shell/*", "../view/*"], message: "A widget knows nothing of traces." }] }] },
  },
  {
    files: ["src/shell/**"],
    rules: { "no-restricted-imports": ["error", { patterns: [{ group: ["../view/*", "../view"], message: "The shell gets its views from main." }] }] },
  },
  {
    files: ["src/view/*/**"],
    rules: { "no-restricted-imports": ["error", { patterns: [{ group: ["../*/index", "../activity", "../timeline"], message: "A view never imports another view." }] }] },
  },
);
