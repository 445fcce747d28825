/** A model as people call it: of a script its file's name, not the way there. */
export const modelName = (model: string): string => (model.startsWith('scripted:') ? `scripted:${model.slice(model.lastIndexOf('/') + 1).replace(/^scripted:/, '')}` : model);
