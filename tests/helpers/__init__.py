"""What several tests share: slow twins, reference values, small sets of graphs."""
