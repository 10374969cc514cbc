// Style sheets are imported for their effect; the bundler gathers them in main.css.
declare module "*.css";
